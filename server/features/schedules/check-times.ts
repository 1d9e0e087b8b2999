import { fieldError } from '../../../shared/errors.js';
import type { ScheduleTimes } from '../../../shared/schedules/contract.js';
import type { Limits } from '../../config/limits.js';
import { occurrencesOf, shortestGap } from './occurrences.js';

/** Latest time of a date, in milliseconds since the epoch. */
const LAST = 8.64e15;

/**
 * Checks whether a schedule can be set.
 *
 * @param now The time, in milliseconds since the epoch
 * @throws GatewayError `INVALID_PARAMS` naming the field
 */
export async function checkTimes(
  times: ScheduleTimes,
  now: number,
  { scheduleMinMs, scheduleGraceMs }: Pick<Limits, 'scheduleMinMs' | 'scheduleGraceMs'>,
): Promise<void> {
  const { at, every, zone } = times;
  if (zone !== undefined && typeof every !== 'string')
    throw fieldError('zone', 'needs a cron expression in every');
  if (at !== undefined) {
    if (at > LAST) throw fieldError('at', 'must be a time that a date can have');
    if (at < now - scheduleGraceMs)
      throw fieldError('at', `must not be more than ${scheduleGraceMs} ms ago (limits.scheduleGraceMs)`);
    return;
  }
  if (typeof every === 'object' && !(every.ms > 0 && now + every.ms <= LAST))
    throw fieldError('every.ms', 'must be a number of milliseconds above 0');
  const occurrences = await occurrencesOf(times, now);
  if (occurrences.after(now) === null) throw fieldError('every', 'must fire at least once from now on');
  if ((await shortestGap(occurrences, now)) < scheduleMinMs) {
    const path = typeof every === 'object' ? 'every.ms' : 'every';
    throw fieldError(
      path,
      `must leave at least ${scheduleMinMs} ms from one time to the next (limits.scheduleMinMs)`,
    );
  }
}
