import { COMMON, Look, Script } from '../script.js';

/** The number of entries of the first read, and the most of one read. */
const FEW = 4;
const MANY = 64;

/**
 * Reads a page of a log: the lowest place that is kept, then for each batch the place of its last event, its field and its text. KEYS:
 * meta, closed, events. ARGV: epoch, after, limit, bytes. May reply more than asked for, and less only at the end.
 */
export const READ = new Look(
  COMMON,
  `
local meta = call('HMGET', KEYS[1], 'ep', 'first')
local first = meta[1] == ARGV[1] and meta[2]
if meta[1] ~= ARGV[1] then
  local closed = call('HGET', KEYS[2], ARGV[1])
  first = closed and string.match(closed, '^%d+')
end
if not first then return {} end
local page = {first}
local from = text(math.max(tonumber(ARGV[2]) + 1, tonumber(first))) .. '-0'
local limit, bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local entries, step, begun = 0, ${FEW}, nil
while true do
  local found = call('XRANGE', KEYS[3], from, '+', 'COUNT', step)
  for _, entry in ipairs(found) do
    entries = entries + 1
    page[#page + 1] = string.match(entry[1], '^%d+')
    page[#page + 1] = entry[2][1]
    page[#page + 1] = entry[2][2]
    local size = tonumber(string.match(entry[2][1], ':(%d+)$'))
    begun = begun or size
    if entries >= limit or size - begun >= bytes then return page end
    from = '(' .. entry[1]
  end
  if #found < step then return page end
  step = math.min(step * 2, ${MANY})
end
`,
);

/**
 * Follows a path of rows from its end. KEYS: rows. ARGV: id, limit. Replies the id before, and the rows, last first.
 */
export const PATH = new Look(
  COMMON,
  `
local id, limit, path, seen, count = ARGV[1], tonumber(ARGV[2]), {}, {}, 0
while count < limit and id ~= 'null' and not seen[id] do
  local row = call('HGET', KEYS[1], id)
  if not row then id = 'null' break end
  seen[id] = true
  count = count + 1
  local line = string.find(row, '\\n', 1, true)
  path[count] = string.sub(row, line + 1)
  id = string.sub(row, 1, line - 1)
end
if seen[id] then id = 'null' end
return {id, path}
`,
);

/** A page of the sessions of a scope, the last used first: members and times of use. KEYS: list. ARGV: time, member before, count. */
export const LIST = new Look(
  COMMON,
  `
local rank = call('ZCOUNT', KEYS[1], '(' .. ARGV[1], '+inf')
local page, count = {}, tonumber(ARGV[3])
while #page < 2 * count do
  local found = call('ZRANGE', KEYS[1], rank, rank + count - 1, 'REV', 'WITHSCORES')
  for i = 1, #found, 2 do
    -- Of those used at that very time only the ones that began before.
    if tonumber(found[i + 1]) < tonumber(ARGV[1]) or found[i] < ARGV[2] then
      page[#page + 1] = found[i]
      page[#page + 1] = found[i + 1]
    end
  end
  rank = rank + count
  if #found < 2 * count then break end
end
return page
`,
);

/** A run of a session by its id, or by its key. KEYS: open, ended, byKey. ARGV: id or key, '1' for a key. */
export const RUN = new Look(
  COMMON,
  `
local run = ARGV[1]
if ARGV[2] == '1' then run = call('HGET', KEYS[3], run) end
if not run then return {} end
return {run, call('HGET', KEYS[1], run) or '', call('HGET', KEYS[2], run) or ''}
`,
);

/** Begins a search for what is too old, unless another gateway is at it. A repetition by the same caller replies the same. KEYS: expiring. ARGV: name, milliseconds. */
export const BEGIN_EXPIRY = new Script(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
`);

/** Forgets ended runs of a session. KEYS: ended, byKey, runs by time. ARGV: sid, before, runs. */
export const EXPIRE_RUNS = new Script(
  COMMON,
  `
for i = 3, #ARGV do
  local score = call('ZSCORE', KEYS[3], ARGV[i] .. '\\n' .. ARGV[1])
  if score and tonumber(score) < tonumber(ARGV[2]) then
    local run = call('HGET', KEYS[1], ARGV[i])
    local key = run and string.match(run, '^[^\\n]*\\n[^\\n]*\\n([^\\n]*)\\n')
    if key and key ~= '' then call('HDEL', KEYS[2], key) end
    call('HDEL', KEYS[1], ARGV[i])
    call('ZREM', KEYS[3], ARGV[i] .. '\\n' .. ARGV[1])
  end
end
`,
);

/** Drops a log of a former conversation. KEYS: meta, closed, logs by time, events, checkpoint, rows, replies. ARGV: epoch, sid, before. */
export const EXPIRE_LOG = new Script(
  COMMON,
  `
local score = call('ZSCORE', KEYS[3], ARGV[1] .. '\\n' .. ARGV[2])
if not score or tonumber(score) >= tonumber(ARGV[3]) or call('HGET', KEYS[1], 'ep') == ARGV[1] then return end
call('ZREM', KEYS[3], ARGV[1] .. '\\n' .. ARGV[2])
local closed = call('HGET', KEYS[2], ARGV[1])
if not closed then return end
call('DEL', KEYS[4], KEYS[5], KEYS[6], KEYS[7])
local size = tonumber(string.match(closed, '^%d+\\n%d+\\n%d+\\n(%d+)'))
if size > 0 then call('HINCRBY', KEYS[1], 'pz', text(-size)) end
call('HDEL', KEYS[2], ARGV[1])
`,
);
