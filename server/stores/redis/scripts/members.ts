import { COMMON, Look, Script } from '../script.js';

/** Milliseconds for which a member with a lapsed lease is remembered. */
const FORGOTTEN_MS = 600_000;

/**
 * Renews a lease, which ends by the clock of Redis. KEYS: nodes. ARGV: holder, lease in milliseconds. Replies 1 if it had run out or there
 * was none, and the time in milliseconds.
 */
export const BEAT = new Script(
  COMMON,
  `
local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local until_ = call('ZSCORE', KEYS[1], ARGV[1])
call('ZADD', KEYS[1], text(now + tonumber(ARGV[2])), ARGV[1])
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now - ${FORGOTTEN_MS}))
return {(not until_ or tonumber(until_) <= now) and 1 or 0, now}
`,
);

/** Members whose lease has not run out. KEYS: nodes. */
export const LIVING = new Look(
  COMMON,
  `
local time = call('TIME')
return call('ZRANGEBYSCORE', KEYS[1], '(' .. text(tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)), '+inf')
`,
);
