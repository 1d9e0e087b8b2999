import { Look, Script } from '../script.js';

/** A record is a field of its home, as JSON: see `RecordRow`. Changes are encoded by `encodeChanges`. */
export const CHANGE_RECORDS = `
local function tokenOf(row) return row and cjson.decode(row).token or '0' end
local function tokenAfter(last) return text(math.max(last + 1, clock())) end

local function allowed(records, changes)
  for _, one in ipairs(changes) do
    if one.token and tokenOf(call('HGET', records, one.name)) ~= one.token then return false end
  end
  return true
end

local function put(records, due, home, name, row)
  call('HSET', records, name, cjson.encode(row))
  if row.dueAt then call('ZADD', due, row.dueAt, pair(home, name)) else call('ZREM', due, pair(home, name)) end
end

local function change(records, due, home, changes)
  for _, one in ipairs(changes) do
    if one.row then
      one.row.token = tokenAfter(tokenOf(call('HGET', records, one.name)))
      put(records, due, home, one.name, one.row)
    else
      call('HDEL', records, one.name)
      call('ZREM', due, pair(home, one.name))
    end
  end
end

-- Drops all of a home.
local function dropRecords(records, due, home)
  for _, name in ipairs(call('HKEYS', records)) do call('ZREM', due, pair(home, name)) end
  call('DEL', records)
end
`;

/** Changes records of one home. Replies whether that was allowed. `needsLog` is 1 where some are put into a session. */
export const CHANGE = new Script(
  ['records', 'due', 'meta'],
  ['home', 'changes', 'needsLog'],
  CHANGE_RECORDS,
  `
changes = cjson.decode(changes)
if needsLog == '1' then
  local epoch, erased = unpack(call('HMGET', meta, 'ep', 'er'))
  if not epoch or erased then return 0 end
end
if not allowed(records, changes) then return 0 end
change(records, due, home, changes)
return 1
`,
);

/** Due members of a sorted set. Replies members and scores, then the lowest score of the rest, and the time. */
export const DUE = new Look(
  ['due'],
  ['ahead', 'limit'],
  `
local now = text(milliseconds() + ahead)
local found = call('ZRANGEBYSCORE', due, '-inf', now, 'WITHSCORES', 'LIMIT', 0, limit)
local rest = call('ZRANGE', due, #found / 2, #found / 2, 'WITHSCORES')
found[#found + 1] = rest[2] or ''
found[#found + 1] = now
return found
`,
);

/** Takes due records of one home, which the rest of the arguments name. Replies the name of each, and its row with the former due time. */
export const TAKE = new Script(
  ['records', 'due'],
  ['home', 'lease', 'ahead'],
  CHANGE_RECORDS,
  `
local now, taken = milliseconds() + ahead, {}
for i = REST_OF_ARGV, #ARGV do
  local name = ARGV[i]
  local at = call('ZSCORE', due, pair(home, name))
  local kept = call('HGET', records, name)
  if not kept then
    call('ZREM', due, pair(home, name))
  elseif at and tonumber(at) <= now then
    local row = cjson.decode(kept)
    row.token, row.dueAt = tokenAfter(row.token), at
    taken[#taken + 1] = name
    taken[#taken + 1] = cjson.encode(row)
    row.dueAt = text(now + lease)
    put(records, due, home, name, row)
  end
end
return taken
`,
);

/** Sets the due time of a partition ('' for never), unless it changed since it was read. */
export const HINT = new Script(
  ['due'],
  ['part', 'seen', 'at'],
  `
if (call('ZSCORE', due, part) or '') ~= seen then return 0 end
if at == '' then call('ZREM', due, part) else call('ZADD', due, at, part) end
return 1
`,
);

/** Takes a home off an owner's list, unless it was put there again since it was seen. */
export const FORGET = new Script(
  ['list'],
  ['home', 'seen'],
  `
if call('ZSCORE', list, home) ~= seen then return 0 end
return call('ZREM', list, home)
`,
);
