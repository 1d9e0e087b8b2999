import { createHash } from 'node:crypto';

/** A Lua script, which Redis runs as one atomic step. */
export class Script {
  readonly source: string;
  readonly hash: string;
  /** Whether it changes anything. */
  readonly writes: boolean = true;

  constructor(...parts: readonly string[]) {
    this.source = parts.join('\n');
    this.hash = createHash('sha1').update(this.source).digest('hex');
  }
}

/** A script that changes nothing. */
export class Look extends Script {
  override readonly writes = false;
}

/** Functions that scripts share. Numbers beyond 2^31 are text, since Lua would write them with an exponent. */
export const COMMON = `
local call = redis.call
local function text(number) return string.format('%.0f', number) end
local at = 0
local function take() at = at + 1; return ARGV[at] end

-- A term that was never given, also where Redis has forgotten the last ones: it comes from its clock.
local function termAfter(last, random)
  local time = call('TIME')
  local byClock = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)) * 1000 + tonumber(random)
  return text(math.max((tonumber(last) or 0) + 1, byClock))
end

-- Notes who holds a session that is not finished; false: it is.
local function note(unfinished, busy, sid, holder)
  local before = call('HGET', unfinished, sid)
  if before == holder then return end
  if before and call('HINCRBY', busy, before, -1) <= 0 then call('HDEL', busy, before) end
  if holder then
    call('HSET', unfinished, sid, holder)
    call('HINCRBY', busy, holder, 1)
  else
    call('HDEL', unfinished, sid)
  end
end
`;

/** Writes message rows for cuts and beginnings: id, row and parent, in that order. */
export const PUT_ROWS = `
local function putRows(rows, replies)
  for _ = 1, tonumber(take()) do
    local id, row, parent = take(), take(), take()
    call('HSET', rows, id, row)
    call('HSETNX', replies, parent, id)
  end
end
`;
