import { Look, Script, WHEN_FULL } from '../script.js';

/** Milliseconds for which a member with a lapsed lease is remembered. */
const FORGOTTEN_MS = 600_000;

/**
 * Renews a lease, which ends by the clock of Redis. A full Redis takes it too, or all members would be dead once there is room. Replies 1 if
 * it had run out or there was none, and the time in milliseconds.
 */
export const BEAT = new Script(
  ['nodes'],
  ['holder', 'lease', 'latest'],
  WHEN_FULL,
  `
local now = milliseconds()
local ends = call('ZSCORE', nodes, holder)
call('ZADD', nodes, text(now + lease), holder)
-- A clock that was set makes nobody older.
local known = math.min(now, tonumber(latest))
call('ZREMRANGEBYSCORE', nodes, '-inf', text(known - ${FORGOTTEN_MS}))
return {(not ends or tonumber(ends) <= now) and 1 or 0, now}
`,
);

/** The time in milliseconds, and the members whose lease has not run out. */
export const LIVING = new Look(
  ['nodes'],
  [],
  `
local now = text(milliseconds())
return {now, call('ZRANGEBYSCORE', nodes, '(' .. now, '+inf')}
`,
);
