import { Look, Script, WHEN_FULL } from '../script.js';

/**
 * Renews a lease, which ends by the clock of Redis. A full Redis takes it too, or all members would be dead once there is room. Replies 1 if it had run out or there was none, and
 * the time in milliseconds.
 */
export const BEAT = new Script(
  ['nodes'],
  ['holder', 'lease', 'forgets'],
  WHEN_FULL,
  `
local now = milliseconds()
local ends = call('ZSCORE', nodes, holder)
call('ZADD', nodes, text(now + lease), holder)
call('ZREMRANGEBYSCORE', nodes, '-inf', forgets)
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
