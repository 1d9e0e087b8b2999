import { Look, Script } from '../script.js';

/** The number of entries of the first read, and the most of one read. */
const FEW = 4;
const MANY = 64;

/**
 * Reads a page of a log: the lowest place that is kept, then for each batch the place of its last event, its field and its text. May reply
 * more than asked for, and less only at the end.
 */
export const READ = new Look(
  ['meta', 'closed', 'events'],
  ['epoch', 'after', 'limit', 'bytes'],
  `
local present, first = unpack(call('HMGET', meta, 'ep', 'first'))
if present ~= epoch then
  local past = call('HGET', closed, epoch)
  if not past then return {} end
  first = cjson.decode(past).first
end
local page = {first}
local from = text(math.max(after + 1, first)) .. '-0'
local entries, step, begun = 0, ${FEW}, nil
limit, bytes = tonumber(limit), tonumber(bytes)
while true do
  local found = call('XRANGE', events, from, '+', 'COUNT', step)
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

/** Follows a path of rows from its end. Replies the id before, and the rows, last first. */
export const PATH = new Look(
  ['rows'],
  ['id', 'limit'],
  `
local path, seen = {}, {}
while #path < tonumber(limit) and id ~= 'null' and not seen[id] do
  local row = call('HGET', rows, id)
  if not row then id = 'null' break end
  seen[id] = true
  local line = string.find(row, '\\n', 1, true)
  path[#path + 1] = string.sub(row, line + 1)
  id = string.sub(row, 1, line - 1)
end
if seen[id] then id = 'null' end
return {id, path}
`,
);

/** A page of the sessions of a scope, the last used first: members and times of use. */
export const LIST = new Look(
  ['list'],
  ['time', 'before', 'count'],
  `
local rank = call('ZCOUNT', list, '(' .. time, '+inf')
local page = {}
while #page < 2 * count do
  local found = call('ZRANGE', list, rank, rank + count - 1, 'REV', 'WITHSCORES')
  for i = 1, #found, 2 do
    -- Several may have been used at that very time: those that began later were on the page before.
    if tonumber(found[i + 1]) < tonumber(time) or found[i] < before then
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

/** A run of a session by its id, or by its key. Replies its id and its row. */
export const RUN = new Look(
  ['open', 'ended', 'byKey'],
  ['by', 'name'],
  `
local runId = name
if by == 'key' then runId = call('HGET', byKey, name) end
local row = runId and (call('HGET', open, runId) or call('HGET', ended, runId))
return row and {runId, row} or {}
`,
);

/** Begins a search for what is too old, unless another gateway is at it. A repetition by the same caller replies the same. */
export const BEGIN_EXPIRY = new Script(
  ['expiring'],
  ['name', 'ms'],
  `
if call('SET', expiring, name, 'NX', 'PX', ms) then return 1 end
return call('GET', expiring) == name and 1 or 0
`,
);

/** Forgets ended runs of a session, which are the rest of the arguments. */
export const EXPIRE_RUNS = new Script(
  ['ended', 'byKey', 'runs'],
  ['sid', 'before'],
  `
for i = REST_OF_ARGV, #ARGV do
  local runId = ARGV[i]
  local score = call('ZSCORE', runs, pair(runId, sid))
  if score and tonumber(score) < tonumber(before) then
    local row = call('HGET', ended, runId)
    local key = row and cjson.decode(row).key
    if key then call('HDEL', byKey, key) end
    call('HDEL', ended, runId)
    call('ZREM', runs, pair(runId, sid))
  end
end
`,
);

/** Drops a log of a former conversation. */
export const EXPIRE_LOG = new Script(
  ['meta', 'closed', 'logs', 'events', 'checkpoint', 'rows', 'replies'],
  ['epoch', 'sid', 'before'],
  `
local score = call('ZSCORE', logs, pair(epoch, sid))
if not score or tonumber(score) >= tonumber(before) or call('HGET', meta, 'ep') == epoch then return end
call('ZREM', logs, pair(epoch, sid))
local past = call('HGET', closed, epoch)
if not past then return end
call('DEL', events, checkpoint, rows, replies)
local size = cjson.decode(past).size
if size > 0 then call('HINCRBY', meta, 'pz', -size) end
call('HDEL', closed, epoch)
`,
);
