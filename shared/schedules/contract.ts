/** The treatment of instants that passed while no gateway was up or could reach the store. */
export type MissedPolicy = 'once' | 'all' | 'skip';

/** The times of a schedule: once, or repeated. */
export interface ScheduleTimes {
  /** Fires once at this time, in milliseconds since the epoch. Give either this or `every`. */
  readonly at?: number | undefined;
  /** A cron expression of five or six fields (the sixth, first, is seconds), or a number of milliseconds, counted from when it was set. */
  readonly every?: string | { readonly ms: number } | undefined;
  /** IANA name of the time zone that a cron expression is read in. @default 'UTC' */
  readonly zone?: string | undefined;
  /**
   * `once`: the last missed instant fires, and says how many were missed. `all`: each fires, the last 24 at most. `skip`: none fires, and the log
   * says so.
   *
   * @default 'once'
   */
  readonly missed?: MissedPolicy | undefined;
}

/** Parameters of a new schedule. */
export interface ScheduleParams extends ScheduleTimes {
  readonly sessionId: string;
  /** Its name in its session. A new schedule replaces the one of the same name. @default a new one */
  readonly id?: string | undefined;
  /** The text of the message that is sent each time. */
  readonly message: string;
}

/** A schedule of a session. */
export interface Schedule {
  readonly id: string;
  readonly message: string;
  readonly at?: number;
  readonly every?: string | { readonly ms: number };
  readonly zone?: string;
  readonly missed: MissedPolicy;
  /** Id of the user who set it. Its runs belong to this user. */
  readonly by: string;
  /** When it was set, in milliseconds since the epoch. */
  readonly setAt: number;
  /** When it fires next, in milliseconds since the epoch. */
  readonly nextAt: number;
}

/**
 * Reason why an instant has no run: too late, the session's queue was full, a person had control, the user who set the schedule may not send any more, or
 * nobody could say in time whether that user may.
 */
export type SkipReason = 'missed' | 'busy' | 'taken_over' | 'refused' | 'unavailable';

/** The log's record of an instant of a schedule. */
export interface FiredInstant {
  readonly id: string;
  /** The planned time, in milliseconds since the epoch. */
  readonly instant: number;
  /** Absent if it has a run, which the event names. */
  readonly skipped?: SkipReason;
  /** How many earlier instants this one also accounts for. Counted up to a hundred. */
  readonly missed?: number;
  /** The next time it fires, in milliseconds since the epoch; null if this was the last. */
  readonly nextAt: number | null;
}

/** The cause of a run whose message nobody sent. */
export interface ScheduleTrigger {
  readonly type: 'schedule';
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly instant: number;
}

/** The operations on schedules. */
export interface ScheduleOperations {
  schedule: { params: ScheduleParams; result: { readonly schedule: Schedule } };
  unschedule: {
    params: { readonly sessionId: string; readonly id: string };
    result: { readonly ok: true };
  };
  schedules: {
    params: { readonly sessionId: string };
    /** The schedules, in the order in which they fire next. */
    result: { readonly schedules: readonly Schedule[] };
  };
}

/** The events of schedules. */
export interface ScheduleEvents {
  /** A schedule was set. It replaces the one of the same name. */
  schedule_set: Schedule;
  /** A schedule was taken back. */
  schedule_unset: { readonly id: string; readonly by: string };
  /** A schedule fired. `runId` is the run that it began. */
  schedule_fired: FiredInstant;
}

/** The properties of its operations that a client has to know, and the names of all others (`shared/calls.ts`). */
export const SCHEDULE_CALLS = { schedules: 'GET' } as const;
export const SCHEDULE_NAMED = ['schedule', 'unschedule'] as const;

/** Items of an export. */
export interface ScheduleExports {
  schedules: Schedule;
}

/** The limits of schedules. */
export interface ScheduleLimits {
  /** Schedules of one session. @default 32 */
  readonly schedulesPerSession: number;
  /** Schedules of one user in all sessions together, or of one link. A service that speaks for many people has no such bound. @default 1000 */
  readonly schedulesPerUser: number;
  /** The shortest time from one instant of a schedule to the next. @default 60 s */
  readonly scheduleMinMs: number;
  /** Lateness up to which an instant of a schedule does not count as missed. @default 60 s */
  readonly scheduleGraceMs: number;
  /** Length of a schedule's message, in characters. @default 16 Ki */
  readonly scheduleLength: number;
}

/** Its events that cause notices, as the kinds of these. */
export const SCHEDULE_CAUSES = ['schedule_fired'] as const;

/** The fields of these notices. */
export interface ScheduleCauseFields {
  /** The instant of a schedule (`schedule_fired`). */
  readonly schedule?: { readonly id: string; readonly instant: number };
}

/** The schedules of a session, for host code. */
export interface ScheduleHandle {
  /** Sets a schedule, which sends its message `at` a time or repeatedly by `every`. Replaces the one with the same `id`. */
  schedule(schedule: Omit<ScheduleParams, 'sessionId'>): Promise<Schedule>;
  /** Removes a schedule, if there is one of that id. */
  unschedule(id: string): Promise<void>;
  /** The schedules, ordered by their next time. */
  schedules(): Promise<readonly Schedule[]>;
}
