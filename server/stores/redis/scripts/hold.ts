import { PUT_ROWS, Script } from '../script.js';

/** Fields of a session's meta, in the order in which they are read. */
export const META = [
  ...['ep', 'tok', 'seq', 'first', 'tk', 'cl', 'cr', 'up', 'uid', 'st', 'ab', 'od', 'fk'],
  ...['cu', 'cz', 'mz', 'pz', 'own', 'wb'],
] as const;

/**
 * Takes a session for writing, and begins it as `create` says ('' for not at all). `N`: there is none. `O holder`: another gateway holds it.
 * `A`: the caller alone holds it, under a term that is higher than any. A repetition takes it again, and still reports it as created.
 */
export const ACQUIRE = new Script(
  ['meta', 'closed', 'open', 'steps', 'unfinished', 'busy', 'news', 'held'],
  ['holder', 'from', 'now', 'sid', 'random', 'create', 'given'],
  `
create = create ~= '' and cjson.decode(create)
local epoch, last, seq, owner, closedAt, terms = unpack(call('HMGET', meta, 'ep', 'tok', 'seq', 'own', 'cl', 'tk'))
if not epoch or closedAt then
  if not create then return {'N'} end
  if epoch then
    local first, cu, cz, mz, activity = unpack(call('HMGET', meta, 'first', 'cu', 'cz', 'mz', 'st'))
    local size = cu - cz + mz
    call('HSET', closed, epoch, cjson.encode({ep = epoch, tok = last, seq = seq, first = first, tk = terms, cl = closedAt,
      st = activity or nil, size = size}))
    call('HINCRBY', meta, 'pz', size)
  end
  epoch, seq, terms = create.epoch, create.after, '[]'
  call('HDEL', meta, 'cl', 'st', 'bz', 'uid', 'fk', 'ab', 'er')
  call('HSET', meta, 'ep', epoch, 'seq', text(seq), 'first', text(math.max(seq, 1)), 'cr', now, 'up', now, 'cu', '0', 'cz', '0', 'mz', '0', 'od', text(clock()))
  call('HSETNX', meta, 'pz', '0')
  set(meta, create.meta)
elseif owner and owner ~= '' and owner ~= holder and owner ~= from then
  return {'O', owner}
end
-- Never given before, also where Redis has forgotten the last ones: it comes from its clock.
local term = given ~= '' and given or text(math.max((tonumber(last) or 0) + 1, milliseconds() * 1000 + random))
local first = seq + 1
terms = cjson.decode(terms)
-- A term that wrote nothing is not worth remembering.
if #terms > 0 and terms[#terms].first == first then table.remove(terms) end
if #terms == 0 or terms[#terms].term ~= term then table.insert(terms, {term = term, first = first}) end
call('HSET', meta, 'tok', term, 'wb', '0', 'wf', first, 'own', holder, 'tk', cjson.encode(terms))
local isLeft = call('HGET', meta, 'bz') == '1' or call('HLEN', open) > 0
note(unfinished, busy, sid, isLeft and holder)
call('HSET', held, sid, holder)
call('SPUBLISH', news, '')
local isCreated = create and epoch == create.epoch and first == create.after + 1
return {'A', isCreated and 1 or 0, call('HMGET', meta, ${META.map((field) => `'${field}'`).join(', ')}),
  call('HGETALL', open), call('HGETALL', steps)}
`,
);

/** Lets a session go, but only for the holder of that term. */
export const RELEASE = new Script(
  ['meta', 'unfinished', 'busy', 'held'],
  ['term', 'sid'],
  `
if call('HGET', meta, 'tok') ~= term then return 0 end
call('HSET', meta, 'own', '')
call('HDEL', held, sid)
if call('HEXISTS', unfinished, sid) == 1 then note(unfinished, busy, sid, '') end
return 1
`,
);

/**
 * Drops the events of a log up to a place, which its checkpoint and rows replace. `N`: nothing to do. `F`: another gateway is the writer.
 */
export const CUT = new Script(
  ['meta', 'closed', 'events', 'checkpoint', 'rows', 'replies'],
  ['epoch', 'term', 'seq', 'folded', 'grown'],
  PUT_ROWS,
  `
local present, writer, first, before = unpack(call('HMGET', meta, 'ep', 'tok', 'first', 'cz'))
if present ~= epoch then return {call('HEXISTS', closed, epoch) == 1 and 'F' or 'N', 0} end
if tonumber(seq) < tonumber(first) then return {'N', 0} end
if writer ~= term then return {'F', 0} end
local cut = before
for _, entry in ipairs(call('XREVRANGE', events, seq .. '-0', '-', 'COUNT', 1)) do
  cut = string.match(entry[2][1], ':(%d+)$')
end
first = text(seq + 1)
call('XTRIM', events, 'MINID', '=', first .. '-0')
call('HSET', meta, 'first', first, 'cz', cut)
call('SET', checkpoint, folded)
putRows(grown)
return {'A', grown - (cut - before)}
`,
);
