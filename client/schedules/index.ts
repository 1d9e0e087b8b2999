import type { Schedule, ScheduleParams } from '../../shared/schedules/contract.js';
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
} from '../../shared/schedules/contract.js';

/** The schedules of a session, with the operations on them. */
export interface SessionSchedules {
  /**
   * Sets a schedule. Its message is sent once (`at`) or repeatedly (`every`). It replaces the schedule of the same `id`. Safe to repeat.
   *
   * @throws GatewayError `INVALID_PARAMS` naming the field: a past time, an expression that never fires or fires too often, an unknown
   * zone; `QUOTA_EXCEEDED` beyond `limits.schedulesPerSession`
   */
  schedule(schedule: Omit<ScheduleParams, 'sessionId'>, options?: SignalOptions): Promise<Schedule>;
  /** Removes a schedule, if there is one of that name. Runs that it has begun go on. */
  unschedule(id: string, options?: SignalOptions): Promise<void>;
  /** The schedules, in the order in which they fire next. @throws GatewayError `SESSION_NOT_FOUND` */
  schedules(options?: SignalOptions): Promise<readonly Schedule[]>;
}

/**
 * The schedules of a session of a client.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
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
      // A repeated attempt sets the same schedule.
      return (await call('schedule', { ...options, ...rest, id, sessionId })).schedule;
    },
    async unschedule(id, options) {
      await call('unschedule', { ...options, id, sessionId });
    },
  };
}
