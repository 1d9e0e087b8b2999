import type { Schedule, ScheduleParams } from '../../shared/schedules.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { randomId } from '../random.js';
import { misused } from '../transport/failure.js';

export type {
  FiredInstant,
  MissedPolicy,
  Schedule,
  ScheduleParams,
  ScheduleTimes,
  ScheduleTrigger,
  SkipReason,
} from '../../shared/schedules.js';

/** The schedules of a session: to set, to read, to take back. */
export interface SessionSchedules {
  /**
   * Sets a schedule: its message is sent `at` a time, or again and again, as `every` says. One of the same `id` takes its place. Safe to
   * be repeated.
   *
   * @throws GatewayError `INVALID_PARAMS` naming the field: a time that is past, an expression that never fires or fires too often, a
   *   zone that there is not; `QUOTA_EXCEEDED` beyond `limits.schedulesPerSession`
   */
  schedule(schedule: Omit<ScheduleParams, 'sessionId'>, options?: SignalOptions): Promise<Schedule>;
  /** Takes a schedule back, if there is one of that name. Runs that it has begun go on. */
  unschedule(id: string, options?: SignalOptions): Promise<void>;
  /** In the order in which they fire next. @throws GatewayError `SESSION_NOT_FOUND` */
  schedules(options?: SignalOptions): Promise<readonly Schedule[]>;
}

/**
 * The schedules of a session of a client.
 *
 * @throws GatewayError `INVALID_REQUEST` for what is no client of this package
 *
 * @example
 * ```ts
 * const reports = sessionSchedules(client, 'main');
 * await reports.schedule({ id: 'daily', message: 'Report', every: '0 9 * * 1-5', zone: 'Europe/Berlin' });
 * ```
 */
export function sessionSchedules(client: Pick<Client, 'connection'>, sessionId: string): SessionSchedules {
  const core = coreOf.get(client);
  if (!core) throw misused('sessionSchedules needs a client of createClient');
  const { call } = core;
  const schedules = async (options?: SignalOptions): Promise<readonly Schedule[]> =>
    (await call('schedules', { ...options, sessionId })).schedules;

  return {
    schedules,
    async schedule({ id = `sch_${randomId()}`, ...rest }, options) {
      // An attempt that is repeated sets the same one.
      return (await call('schedule', { ...options, ...rest, id, sessionId })).schedule;
    },
    async unschedule(id, options) {
      await call('unschedule', { ...options, id, sessionId });
    },
  };
}
