import { COMMON, PUT_ROWS, Script } from '../script.js';

/** Fields of a session's meta, in the order in which they are read. */
export const META = [
  ...['ep', 'tok', 'seq', 'first', 'tk', 'cl', 'cr', 'up', 'uid', 'st', 'ab', 'od', 'fk'],
  ...['cu', 'cz', 'mz', 'pz', 'own', 'wb'],
] as const;

/**
 * Takes a session for writing. KEYS: meta, closed, open, steps, unfinished, busy, news, held. ARGV: holder, from, now, sid, random; then the
 * epoch to begin ('' for none), and the number of fields of its meta, with those.
 *
 * `N`: there is none. `O holder`: another gateway holds it. `A`: the caller alone holds it, under a term that is higher than any. A
 * repetition takes it again, and still reports it as created.
 */
export const ACQUIRE = new Script(
  COMMON,
  `
at = 0
local holder, from, now, sid, random, anew = take(), take(), take(), take(), take(), take()
local meta = call('HMGET', KEYS[1], 'ep', 'tok', 'seq', 'own', 'cl', 'tk')
local seq = tonumber(meta[3]) or 0
local terms = meta[6] or ''
if not meta[1] or meta[5] then
  if anew == '' then return {'N'} end
  if meta[1] then
    local old = call('HMGET', KEYS[1], 'first', 'seq', 'cl', 'cu', 'cz', 'mz', 'tk', 'st')
    local size = text(tonumber(old[4]) - tonumber(old[5]) + tonumber(old[6]))
    call('HSET', KEYS[2], meta[1], table.concat({old[1], old[2], old[3], size, old[7], old[8] or ''}, '\\n'))
    call('HINCRBY', KEYS[1], 'pz', size)
  end
  call('HDEL', KEYS[1], 'cl', 'st', 'bz', 'uid', 'fk', 'ab', 'xe', 'xt', 'xb', 'xf', 'xl', 'xo')
  local time = call('TIME')
  call('HSET', KEYS[1], 'ep', anew, 'seq', '0', 'first', '1', 'cr', now, 'up', now, 'cu', '0', 'cz', '0',
    'od', text(tonumber(time[1]) * 1000000 + tonumber(time[2])))
  call('HSETNX', KEYS[1], 'pz', '0')
  for _ = 1, tonumber(take()) do call('HSET', KEYS[1], take(), take()) end
  seq, terms = 0, ''
elseif meta[4] and meta[4] ~= '' and meta[4] ~= holder and meta[4] ~= from then
  return {'O', meta[4]}
end
local term = termAfter(meta[2], random)
local first = text(seq + 1)
-- A term that wrote nothing is not worth remembering.
terms = (string.gsub(terms, ',?%d+:' .. first .. '$', ''))
terms = (terms == '' and '' or terms .. ',') .. term .. ':' .. first
call('HSET', KEYS[1], 'tok', term, 'wb', '0', 'wf', first, 'own', holder, 'tk', terms)
local isLeft = call('HGET', KEYS[1], 'bz') == '1' or call('HLEN', KEYS[3]) > 0
note(KEYS[5], KEYS[6], sid, isLeft and holder)
call('HSET', KEYS[8], sid, holder)
call('SPUBLISH', KEYS[7], '')
local created = seq == 0 and call('HGET', KEYS[1], 'ep') == anew
return {'A', created and 1 or 0, call('HMGET', KEYS[1], ${META.map((field) => `'${field}'`).join(', ')}),
  call('HGETALL', KEYS[3]), call('HGETALL', KEYS[4]), call('HKEYS', KEYS[2])}
`,
);

/** Lets a session go, but only for the holder of that term. KEYS: meta, unfinished, busy, held. ARGV: term, sid. */
export const RELEASE = new Script(
  COMMON,
  `
local meta = call('HMGET', KEYS[1], 'tok', 'bz')
if meta[1] ~= ARGV[1] then return 0 end
call('HSET', KEYS[1], 'own', '')
call('HDEL', KEYS[4], ARGV[2])
if call('HEXISTS', KEYS[2], ARGV[2]) == 1 then note(KEYS[2], KEYS[3], ARGV[2], '') end
return 1
`,
);

/**
 * Drops the events of a log up to a place, which its checkpoint and rows replace. KEYS: meta, closed, events, checkpoint, rows, replies.
 * ARGV: epoch, term, place, checkpoint, growth of the rows, rows. `N`: nothing to do. `F`: another gateway is the writer.
 */
export const CUT = new Script(
  COMMON,
  PUT_ROWS,
  `
at = 0
local epoch, term, seq, checkpoint, grown = take(), take(), tonumber(take()), take(), take()
local meta = call('HMGET', KEYS[1], 'ep', 'tok', 'first', 'cz')
if meta[1] ~= epoch then return {call('HEXISTS', KEYS[2], epoch) == 1 and 'F' or 'N', 0} end
if seq < tonumber(meta[3]) then return {'N', 0} end
if meta[2] ~= term then return {'F', 0} end
local cut = meta[4]
for _, entry in ipairs(call('XREVRANGE', KEYS[3], text(seq) .. '-0', '-', 'COUNT', 1)) do
  cut = string.match(entry[2][1], ':(%d+)$')
end
call('XTRIM', KEYS[3], 'MINID', '=', text(seq + 1) .. '-0')
call('HSET', KEYS[1], 'first', text(seq + 1), 'cz', cut)
call('HINCRBY', KEYS[1], 'mz', grown)
call('SET', KEYS[4], checkpoint)
putRows(KEYS[5], KEYS[6])
return {'A', tonumber(grown) - (tonumber(cut) - tonumber(meta[4]))}
`,
);
