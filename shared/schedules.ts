/** What becomes of the instants that passed while no gateway lived, or none could be reached. */
export type MissedPolicy = 'once' | 'all' | 'skip';

/** When a schedule fires: once, or again and again. */
export interface ScheduleTimes {
  /** Once, at this time, in milliseconds since the epoch. Either this or `every`. */
  readonly at?: number | undefined;
  /** A cron expression of five or six fields (the sixth, first, is seconds), or a number of milliseconds from when it was set on. */
  readonly every?: string | { readonly ms: number } | undefined;
  /** IANA name of the time zone that a cron expression is read in. @default 'UTC' */
  readonly zone?: string | undefined;
  /**
   * `once`: of all instants that were missed the last one fires, and says how many were. `all`: each fires, the last 24 at most. `skip`:
   * none does; that it was skipped is logged.
   *
   * @default 'once'
   */
  readonly missed?: MissedPolicy | undefined;
}

/** A schedule as it is set. */
export interface ScheduleParams extends ScheduleTimes {
  readonly sessionId: string;
  /** Its name in its session; one of the same name takes its place. @default a new one */
  readonly id?: string | undefined;
  /** What is sent each time. */
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
  /** Id of the user who set it: its runs are that user's. */
  readonly by: string;
  /** When it was set, in milliseconds since the epoch. */
  readonly setAt: number;
  /** When it fires next, in milliseconds since the epoch. */
  readonly nextAt: number;
}

/** Why an instant has no run: too late, the session's queue was full, or a person had control. */
export type SkipReason = 'missed' | 'busy' | 'taken_over';

/** What the log says of an instant of a schedule. */
export interface FiredInstant {
  readonly id: string;
  /** When it was to be, in milliseconds since the epoch. */
  readonly instant: number;
  /** Absent where it has a run, which the event names. */
  readonly skipped?: SkipReason;
  /** How many instants before it are accounted for with it. */
  readonly missed?: number;
  /** When it fires next; null where that was the last time. */
  readonly nextAt: number | null;
}

/** What began a run, where nobody sent its message. */
export interface ScheduleTrigger {
  readonly type: 'schedule';
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly instant: number;
}
