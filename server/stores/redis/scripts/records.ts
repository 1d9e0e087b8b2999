import { COMMON, Look, Script } from '../script.js';

/** A record is a field of its home: its token, due time, owner and value, each on a line. Changes are encoded by `encodeChanges`. */
export const CHANGE_RECORDS = `
local function takeChanges()
  local changes = {}
  for i = 1, tonumber(take()) do
    local name, token, isPut, due, owner, value = take(), take(), take(), take(), take(), take()
    changes[i] = {name = name, token = token, isPut = isPut == '1', due = due, owner = owner, value = value}
  end
  return changes
end

local function tokenAfter(last)
  local time = call('TIME')
  return text(math.max(tonumber(last) + 1, tonumber(time[1]) * 1000000 + tonumber(time[2])))
end

local function tokenOf(row) return row and string.match(row, '^%d+') or '0' end

local function allowed(records, changes)
  for _, one in ipairs(changes) do
    if one.token ~= '' and tokenOf(call('HGET', records, one.name)) ~= one.token then return false end
  end
  return true
end

local function put(records, due, home, name, token, at, rest)
  call('HSET', records, name, token .. '\\n' .. at .. '\\n' .. rest)
  if at == '' then call('ZREM', due, home .. '\\n' .. name) else call('ZADD', due, at, home .. '\\n' .. name) end
end

-- Drops all of a home.
local function dropRecords(records, due, home)
  for _, name in ipairs(call('HKEYS', records)) do call('ZREM', due, home .. '\\n' .. name) end
  call('DEL', records)
end

local function change(records, due, home, changes)
  for _, one in ipairs(changes) do
    if one.isPut then
      local token = tokenAfter(tokenOf(call('HGET', records, one.name)))
      put(records, due, home, one.name, token, one.due, one.owner .. '\\n' .. one.value)
    else
      call('HDEL', records, one.name)
      call('ZREM', due, home .. '\\n' .. one.name)
    end
  end
end
`;

/** Changes records of one home. KEYS: records, due. ARGV: home, changes. Replies whether that was allowed. */
export const CHANGE = new Script(
  COMMON,
  CHANGE_RECORDS,
  `
local home, changes = take(), takeChanges()
if not allowed(KEYS[1], changes) then return 0 end
change(KEYS[1], KEYS[2], home, changes)
return 1
`,
);

const CLOCK = `
local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/** Due members of a sorted set. KEYS: the set. ARGV: ahead, limit. Replies members and scores, then the lowest score of the rest, and the time. */
export const DUE = new Look(
  COMMON,
  CLOCK,
  `
local found = call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now + tonumber(ARGV[1])), 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local rest = call('ZRANGE', KEYS[1], #found / 2, #found / 2, 'WITHSCORES')
found[#found + 1] = rest[2] or ''
found[#found + 1] = text(now + tonumber(ARGV[1]))
return found
`,
);

/** Takes due records of one home. KEYS: records, due. ARGV: home, lease, ahead, names. Replies name, row and former due time of each. */
export const TAKE = new Script(
  COMMON,
  CHANGE_RECORDS,
  CLOCK,
  `
local home, lease, ahead = take(), tonumber(take()), tonumber(take())
local taken = {}
for i = 4, #ARGV do
  local name = ARGV[i]
  local at = call('ZSCORE', KEYS[2], home .. '\\n' .. name)
  local row = call('HGET', KEYS[1], name)
  if not row then
    call('ZREM', KEYS[2], home .. '\\n' .. name)
  elseif at and tonumber(at) <= now + ahead then
    local token = tokenAfter(tokenOf(row))
    local rest = string.match(row, '^[^\\n]*\\n[^\\n]*\\n(.*)$')
    put(KEYS[1], KEYS[2], home, name, token, text(now + ahead + lease), rest)
    taken[#taken + 1] = name
    taken[#taken + 1] = token .. '\\n' .. at .. '\\n' .. rest
  end
end
return taken
`,
);

/**
 * Sets the due time of a partition, unless it changed since it was read. KEYS: due of all partitions. ARGV: partition, time as read, new
 * time ('' for never).
 */
export const HINT = new Script(
  COMMON,
  `
if (call('ZSCORE', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then call('ZREM', KEYS[1], ARGV[1]) else call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
return 1
`,
);
