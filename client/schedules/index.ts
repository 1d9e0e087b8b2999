import { isGatewayError } from '../../shared/gateway-error.js';
import type { Schedule, ScheduleParams } from '../../shared/schedules.js';
import { callsOf } from '../calls-of.js';
import type { Client } from '../client.js';
import { forEach } from '../hooks/events.js';
import type { Shown } from '../hooks/session-store.js';
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

/** The schedules of a session, as they are shown. */
export interface SchedulesView {
  /** In the order in which they fire next. */
  readonly schedules: readonly Schedule[];
  /** Why they could not be read. */
  readonly error?: unknown;
  /** They were not read yet. */
  readonly isLoading: boolean;
}

/** The schedules of a session: to set, to read, and to show as they change. */
export interface SessionSchedules extends Shown<SchedulesView> {
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

const CHANGES = ['schedule_set', 'schedule_unset', 'schedule_fired', 'session_closed', 'gap'] as const;

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
export function sessionSchedules(client: Client<any>, sessionId: string): SessionSchedules {
  const call = callsOf.get(client);
  if (!call) throw misused('sessionSchedules needs a client of createClient');
  const schedules = async (options?: SignalOptions): Promise<readonly Schedule[]> =>
    (await call('schedules', { ...options, sessionId })).schedules;

  let view: SchedulesView = { schedules: [], isLoading: true };
  const listeners = new Set<() => void>();
  let stop: (() => void) | null = null;
  /** Of the last time they were asked for: older answers come too late. */
  let asked = 0;
  const show = (next: SchedulesView): void => {
    view = next;
    for (const listener of listeners) listener();
  };
  const load = async (): Promise<void> => {
    const mine = ++asked;
    try {
      const now = await schedules();
      if (mine === asked) show({ schedules: now, isLoading: false });
    } catch (error) {
      // A session that has not begun has none.
      const isAbsent = isGatewayError(error) && error.code === 'SESSION_NOT_FOUND';
      const failure = isAbsent ? {} : { error };
      if (mine === asked) show({ schedules: isAbsent ? [] : view.schedules, isLoading: false, ...failure });
    }
  };
  return {
    schedules,
    async schedule({ id = `sch_${randomId()}`, ...rest }, options) {
      // An attempt that is repeated sets the same one.
      return (await call('schedule', { ...options, ...rest, id, sessionId })).schedule;
    },
    async unschedule(id, options) {
      await call('unschedule', { ...options, id, sessionId });
    },
    getSnapshot: () => view,
    subscribe(listener) {
      listeners.add(listener);
      if (!stop) {
        const failed = (error: unknown): void => show({ ...view, error, isLoading: false });
        const events = client.events(sessionId, { from: 'now', types: [...CHANGES] });
        stop = forEach(events, () => void load(), failed);
        void load();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}
