import { PUT_ROWS, Script } from '../script.js';
import { CHANGE_RECORDS } from './records.js';

/** The keys and arguments of every append. `entry` has the events as text, and `size` is their size. */
const KEYS = ['meta', 'events', 'news'] as const;
const ARGS = ['epoch', 'term', 'batch', 'count', 'entry', 'size'] as const;

/**
 * Only the writer of the present term writes, and each batch once. `F`: another gateway took over. `D first last`: this batch was written
 * before. `R batch`: batches before it are missing, and this is the last one that Redis has.
 */
const CHECK = `
batch, count = tonumber(batch), tonumber(count)
local present, writer, written, writtenFrom, head, isClosed, total, ordinal =
  unpack(call('HMGET', meta, 'ep', 'tok', 'wb', 'wf', 'seq', 'cl', 'cu', 'od'))
if present ~= epoch or writer ~= term then
  -- The writer that erased it may not have heard the answer.
  local erased = cjson.decode(call('HGET', meta, 'er') or '{}')
  if erased.epoch == epoch and erased.term == term and batch <= erased.batch then
    return {'D', erased.first, erased.last, erased.ordinal}
  end
  return {'F', writer or '0'}
end
head, written = tonumber(head), tonumber(written)
if batch <= written then return {'D', tonumber(writtenFrom), head, ordinal} end
if isClosed then return {'F', writer} end
if batch ~= written + 1 then return {'R', written} end
local first, last = head + 1, head + count
`;

/** Writes a batch as one entry of the stream. Its id is the place of its last event; its field has the term and the size of the log so far. */
const WRITE = `
  local place, sum = text(last), text(total + size)
  if count > 0 then call('XADD', events, place .. '-0', term .. ':' .. sum, entry) end
  call('HSET', meta, 'wb', batch, 'wf', first, 'seq', last, 'cu', sum)
`;

/** The longest batch that the news carries, in bytes. Followers read longer ones. */
const TOLD = 65_536;

/**
 * Appends of several logs that change nothing but their log, as pieces of answers do: three keys and six arguments each. A reply for each: the
 * place of its first event, or a reply of `COMMIT`. `E reason`: this one failed, and others may be written. The news carries the batch: see
 * `decodeNews`.
 */
export const APPEND = new Script(
  [],
  [],
  `
local hasWritten = false

local function append(meta, events, news, epoch, term, batch, count, entry, size)
  ${CHECK}
  ${WRITE}
  hasWritten = true
  local isTold = count > 0 and #entry <= ${TOLD}
  call('SPUBLISH', news, isTold and (epoch .. ' ' .. term .. ' ' .. place .. '\\n' .. entry) or '')
  return first
end

local replies = {}
for i = 1, #KEYS / ${KEYS.length} do
  local k, a = (i - 1) * ${KEYS.length}, (i - 1) * ${ARGS.length}
  local isDone, reply = pcall(append, KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4],
    ARGV[a + 5], ARGV[a + 6])
  if not isDone then
    local reason = type(reply) == 'table' and reply.err or reply
    -- Redis takes no writes now: it says so at the first one.
    local code = string.match(reason, '^%u+')
    if not hasWritten and code and code ~= 'ERR' and code ~= 'WRONGTYPE' then return redis.error_reply(reason) end
    reply = {'E', reason}
  end
  replies[i] = reply
end
return replies
`,
);

/**
 * Gives entries of the stream another text. A stream takes no change of an entry, so it is written anew: the same places, and sizes that sum up
 * to what it has then.
 */
const REWRITE = `
local function rewrite(anew)
  local of = {}
  for _, one in ipairs(anew.entries) do of[one.last] = one end
  local was, first = unpack(call('HMGET', meta, 'cz', 'first'))
  was = tonumber(was)
  local sum = was
  local entries = call('XRANGE', events, '-', '+')
  call('DEL', events)
  for _, entry in ipairs(entries) do
    local id, field, value = entry[1], entry[2][1], entry[2][2]
    local writer, total = string.match(field, '^(%d+):(%d+)$')
    local size = tonumber(total) - was
    was = tonumber(total)
    local one = of[string.match(id, '^%d+')]
    if one then size, value = one.size, one.entry end
    sum = sum + size
    call('XADD', events, id, writer .. ':' .. text(sum), value)
  end
  if #entries > 0 then call('HSET', meta, 'cu', text(sum)) end
  if anew.checkpoint and tonumber(first) == anew.checkpointAt + 1 then call('SET', checkpoint, anew.checkpoint) end
end
`;

/**
 * An append that begins or ends runs, has steps, changes fields of the session, or closes it: all of that or nothing. Its changes are JSON:
 * see `changesOf`. Message rows are the rest of the arguments. Nothing is written with these replies. `K`: the key has started a run before.
 * `S`: a record has changed.
 */
export const COMMIT = new Script(
  [
    ...KEYS,
    ...(['open', 'ended', 'byKey', 'steps', 'runs', 'logs', 'unfinished', 'busy', 'held'] as const),
    ...(['records', 'due', 'rows', 'replies', 'checkpoint'] as const),
  ],
  [...ARGS, 'sid', 'changes'],
  CHECK,
  `local function write() ${WRITE} end`,
  CHANGE_RECORDS,
  PUT_ROWS,
  REWRITE,
  `
changes = cjson.decode(changes)
local now = text(milliseconds())

local function finish(runId, ending)
  local row = call('HGET', open, runId)
  if not row then return end
  local run = cjson.decode(row)
  run.request, run.ending = nil, ending
  call('HDEL', open, runId)
  call('HSET', ended, runId, cjson.encode(run))
  call('ZADD', runs, now, pair(runId, sid))
  for _, field in ipairs(call('HKEYS', steps)) do
    if string.sub(field, 1, #runId + 1) == pair(runId, '') then call('HDEL', steps, field) end
  end
end

local opens = changes.opens
local key = opens and opens.run.key
local known = key and call('HGET', byKey, key)
local row = known and (call('HGET', open, known) or call('HGET', ended, known))
if row then return {'K', head, known, row} end
if not allowed(records, changes.records) then return {'S', head} end
write()
change(records, due, sid, changes.records)
if opens then
  opens.run.epoch, opens.run.accepted = epoch, head + opens.offset
  call('HSET', open, opens.runId, cjson.encode(opens.run))
  if key then call('HSET', byKey, key, opens.runId) end
end
for _, step in ipairs(changes.steps) do
  if call('HEXISTS', open, step.runId) == 1 then call('HSET', steps, pair(step.runId, step.number), step.row) end
end
for _, one in ipairs(changes.ends) do
  finish(one.runId, {term = term, seq = head + one.offset, result = one.result})
end
set(meta, changes.meta)
local usedAt = changes.usedAt
if usedAt and usedAt > tonumber(call('HGET', meta, 'up')) then call('HSET', meta, 'up', usedAt) end
if changes.close then
  for _, left in ipairs(call('HKEYS', open)) do finish(left) end
  call('HSET', meta, 'cl', now)
  call('HDEL', held, sid)
  call('ZADD', logs, now, pair(epoch, sid))
end
if changes.anew then rewrite(changes.anew) end
if changes.grown then putRows(changes.grown) end
local busyness, holder = unpack(call('HMGET', meta, 'bz', 'own'))
-- Nobody takes up what is parked.
local isLeft = not changes.close and busyness ~= 'p' and (busyness == '1' or call('HLEN', open) > 0)
note(unfinished, busy, sid, isLeft and (holder or ''))
call('SPUBLISH', news, '')
return {'A', first, last, ordinal}
`,
);

/** Drops all of a session. The rest of the keys are those of its logs. */
const DROP = `
local function drop()
  for _, runId in ipairs(call('HKEYS', ended)) do call('ZREM', runs, pair(runId, sid)) end
  for _, past in ipairs(call('HKEYS', closed)) do call('ZREM', logs, pair(past, sid)) end
  call('ZREM', logs, pair(call('HGET', meta, 'ep'), sid))
  note(unfinished, busy, sid, false)
  call('HDEL', held, sid)
  call('DEL', meta, open, ended, byKey, steps, closed)
  dropRecords(records, due, sid)
  for i = REST_OF_KEYS, #KEYS do call('DEL', KEYS[i]) end
end
`;
const DROPPED = [
  ...(['open', 'ended', 'byKey', 'steps', 'closed', 'records'] as const),
  ...(['runs', 'logs', 'unfinished', 'busy', 'held', 'due'] as const),
];

/**
 * An append that erases its session. A closed log with its last event is left, for those who were behind. `X`: there are other closed logs
 * than so many.
 */
export const ERASE = new Script(
  [...KEYS, ...DROPPED, 'notice'],
  [...ARGS, 'sid', 'left', 'past'],
  CHECK,
  CHANGE_RECORDS,
  DROP,
  `
if call('HLEN', closed) ~= tonumber(past) then return {'X'} end
drop()
local now = text(milliseconds())
local erased = {epoch = epoch, term = term, batch = batch, first = first, last = last, ordinal = ordinal}
call('XADD', notice, '1-0', term .. ':' .. size, entry)
call('HSET', meta, 'ep', left, 'tok', term, 'wb', '0', 'wf', '1', 'seq', '1', 'first', '1', 'own', '',
  'tk', cjson.encode({{term = term, first = 1}}), 'cr', now, 'up', now, 'cl', now, 'od', text(clock()),
  'cu', size, 'cz', '0', 'mz', '0', 'pz', '0', 'er', cjson.encode(erased))
call('ZADD', logs, now, pair(left, sid))
call('SPUBLISH', news, '')
return {'A', first, last, ordinal}
`,
);

/** Removes a closed session, unless it has changed since it was read. Replies whether it is removed, also by an earlier call. */
export const REMOVE = new Script(
  ['meta', 'news', ...DROPPED],
  ['seen', 'past', 'sid'],
  CHANGE_RECORDS,
  DROP,
  `
local epoch, isClosed = unpack(call('HMGET', meta, 'ep', 'cl'))
-- The answer to that may have been lost.
if not epoch then return 1 end
if epoch ~= seen or not isClosed or call('HLEN', closed) ~= tonumber(past) then return 0 end
drop()
call('SPUBLISH', news, '')
return 1
`,
);
