import { COMMON, PUT_ROWS, Script } from '../script.js';
import { CHANGE_RECORDS } from './records.js';

/**
 * The beginning of every append. KEYS: meta, events, news. ARGV: epoch, term, batch, number of events, their text, their size.
 *
 * Only the writer of the present term writes, and each batch once. `F`: another gateway took over. `D first last`: this batch was written
 * before. `R batch`: batches before it are missing, and this is the last one that Redis has.
 */
const CHECK = `
local meta = call('HMGET', KEYS[1], 'ep', 'tok', 'wb', 'wf', 'seq', 'cl', 'cu', 'od')
local epoch, term, batch, count = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if meta[1] ~= epoch or meta[2] ~= term then
  -- The writer that erased it may not have heard the answer.
  local past = call('HMGET', KEYS[1], 'xe', 'xt', 'xb', 'xf', 'xl', 'xo')
  if past[1] == epoch and past[2] == term and batch <= tonumber(past[3]) then
    return {'D', tonumber(past[4]), tonumber(past[5]), past[6]}
  end
  return {'F', meta[2] or '0'}
end
local head = tonumber(meta[5])
if batch <= tonumber(meta[3]) then return {'D', tonumber(meta[4]), head, meta[8]} end
if meta[6] then return {'F', meta[2]} end
if batch ~= tonumber(meta[3]) + 1 then return {'R', tonumber(meta[3])} end
local last = head + count
`;

/** Writes a batch as one entry of the stream. Its id is the place of its last event; its field has the term and the size of the log so far. */
const WRITE = `
local function write()
  local size = text(tonumber(meta[7]) + tonumber(ARGV[6]))
  if count > 0 then call('XADD', KEYS[2], text(last) .. '-0', term .. ':' .. size, ARGV[5]) end
  call('HSET', KEYS[1], 'wb', ARGV[3], 'wf', text(head + 1), 'seq', text(last), 'cu', size)
end
`;

const done = (news: string): string => `
call('SPUBLISH', KEYS[3], ${news})
return {'A', head + 1, last, meta[8]}
`;

/** The longest batch that the news carries, in bytes. Followers read longer ones. */
const TOLD = 65_536;

/** Pieces of answers, which change nothing but the log. The news carries the batch: see `decodeNews`. */
export const APPEND = new Script(
  COMMON,
  CHECK,
  WRITE,
  'write()',
  done(
    `(count > 0 and #ARGV[5] <= ${TOLD}) and (epoch .. ' ' .. term .. ' ' .. text(last) .. '\\n' .. ARGV[5]) or ''`,
  ),
);

/**
 * An append that begins or ends runs, has steps, changes fields of the session, or closes it: all of that or nothing. Further KEYS: open,
 * ended, byKey, steps, runs by time, logs by time, unfinished, busy, held, records, due, rows, replies. Nothing is written with these
 * replies. `K`:
 * the key has started a run before. `S`: a record has changed.
 */
export const COMMIT = new Script(
  COMMON,
  CHECK,
  WRITE,
  CHANGE_RECORDS,
  PUT_ROWS,
  `
at = 6
local open, ended, byKey, steps, runsByTime, logsByTime = KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local now, sid = take(), take()

local function finish(run, seq, result)
  local kept = call('HGET', open, run)
  if not kept then return end
  call('HDEL', open, run)
  -- Its epoch, place, key and hash stay; what it was asked to do goes.
  local head = string.match(kept, '^[^\\n]*\\n[^\\n]*\\n[^\\n]*\\n[^\\n]*\\n')
  call('HSET', ended, run, head .. now .. '\\n' .. epoch .. '\\n' .. term .. '\\n' .. seq .. '\\n' .. result)
  call('ZADD', runsByTime, now, run .. '\\n' .. sid)
  for _, field in ipairs(call('HKEYS', steps)) do
    if string.sub(field, 1, #run + 1) == run .. '\\n' then call('HDEL', steps, field) end
  end
end

local opens = take() == '1'
local run, key, row, place
if opens then
  run, key, row, place = take(), take(), take(), take()
  local known = key ~= '' and call('HGET', byKey, key)
  if known then
    local isOpen, isEnded = call('HGET', open, known), call('HGET', ended, known)
    if isOpen or isEnded then return {'K', head, known, isOpen or '', isEnded or ''} end
  end
end
local records = takeChanges()
if not allowed(KEYS[13], records) then return {'S', head} end
write()
change(KEYS[13], KEYS[14], sid, records)
if opens then
  call('HSET', open, run, epoch .. '\\n' .. text(head + tonumber(place)) .. '\\n' .. row)
  if key ~= '' then call('HSET', byKey, key, run) end
end
for _ = 1, tonumber(take()) do
  local of, number, step = take(), take(), take()
  if call('HEXISTS', open, of) == 1 then call('HSET', steps, of .. '\\n' .. number, step) end
end
for _ = 1, tonumber(take()) do
  local of, offset, result = take(), tonumber(take()), take()
  finish(of, text(offset > 0 and head + offset or last), result)
end
local activity, isBusy, about, used = take(), take(), take(), take()
if activity ~= '' then call('HSET', KEYS[1], 'st', activity, 'bz', isBusy) end
if about ~= '' then call('HSET', KEYS[1], 'ab', about) end
if used ~= '' and tonumber(used) > tonumber(call('HGET', KEYS[1], 'up')) then call('HSET', KEYS[1], 'up', used) end
local closes = take() == '1'
if closes then
  for _, left in ipairs(call('HKEYS', open)) do finish(left, '0', '') end
  call('HSET', KEYS[1], 'cl', now)
  call('HDEL', KEYS[12], sid)
  call('ZADD', logsByTime, now, epoch .. '\\n' .. sid)
end
local grown = take()
if grown ~= '0' then call('HINCRBY', KEYS[1], 'mz', grown) end
putRows(KEYS[15], KEYS[16])
local state = call('HMGET', KEYS[1], 'bz', 'own')
-- Nobody takes up what is parked.
local isLeft = not closes and state[1] ~= 'p' and (state[1] == '1' or call('HLEN', open) > 0)
note(KEYS[10], KEYS[11], sid, isLeft and (state[2] or ''))
`,
  done("''"),
);

/**
 * Drops all of a session. Needs `sid`, and KEYS from 4 on: open, ended, byKey, steps, closed, runs by time, logs by time, unfinished, busy,
 * the events of the log that stays, held, records, due, and all keys of its logs.
 */
const DROP = `
local function drop()
  for _, run in ipairs(call('HKEYS', KEYS[5])) do call('ZREM', KEYS[9], run .. '\\n' .. sid) end
  for _, past in ipairs(call('HKEYS', KEYS[8])) do call('ZREM', KEYS[10], past .. '\\n' .. sid) end
  call('ZREM', KEYS[10], call('HGET', KEYS[1], 'ep') .. '\\n' .. sid)
  note(KEYS[11], KEYS[12], sid, false)
  call('HDEL', KEYS[14], sid)
  call('DEL', KEYS[1], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8])
  dropRecords(KEYS[15], KEYS[16], sid)
  for i = 17, #KEYS do call('DEL', KEYS[i]) end
end
`;

/**
 * An append that erases its session. Further arguments: now, sid, the new epoch, the last event and its size, all logs there are. `X`:
 * there are others.
 */
export const ERASE = new Script(
  COMMON,
  CHECK,
  CHANGE_RECORDS,
  `
at = 6
local now, sid, left, event, size = take(), take(), take(), take(), take()
${DROP}
-- A closed log with one event tells those who were behind.
local function leave(epoch, term, event, size, now)
  local time = call('TIME')
  call('XADD', KEYS[13], '1-0', term .. ':' .. size, event)
  call('HSET', KEYS[1], 'ep', epoch, 'tok', term, 'wb', '0', 'wf', '1', 'seq', '1', 'first', '1', 'own', '', 'tk', term .. ':1',
    'cr', now, 'up', now, 'cl', now, 'od', text(tonumber(time[1]) * 1000000 + tonumber(time[2])), 'cu', size, 'cz', '0', 'mz', '0', 'pz', '0')
  call('ZADD', KEYS[10], now, epoch .. '\\n' .. sid)
end

if call('HLEN', KEYS[8]) ~= tonumber(take()) then return {'X'} end
local first = head + 1
drop()
leave(left, term, event, size, now)
call('HSET', KEYS[1], 'xe', epoch, 'xt', term, 'xb', ARGV[3], 'xf', text(first), 'xl', text(last), 'xo', meta[8])
call('SPUBLISH', KEYS[3], '')
return {'A', first, last, meta[8]}
`,
);

/**
 * Removes a closed session, unless it has changed since it was read. Replies whether it is removed, also by an earlier call. KEYS as above.
 * ARGV: the epoch that was read, its number of closed logs, sid.
 */
export const REMOVE = new Script(
  COMMON,
  CHANGE_RECORDS,
  `
at = 0
local seen, others, sid = take(), take(), take()
${DROP}
local meta = call('HMGET', KEYS[1], 'ep', 'cl')
-- The answer to that may have been lost.
if not meta[1] then return 1 end
if meta[1] ~= seen or not meta[2] or call('HLEN', KEYS[8]) ~= tonumber(others) then return 0 end
drop()
call('SPUBLISH', KEYS[3], '')
return 1
`,
);
