import type { GapReason, SubscriptionInfo } from '../../shared/events.js';
import type { FeatureStats } from '../../shared/features.js';
import type { Store } from '../stores/store.js';
import type { ReadyState } from './ready-state.js';

/** Numbers of runs. */
export interface RunCounts {
  /** Runs that are answering or waiting for a person. */
  readonly active: number;
  /** Accepted runs that wait for their turn. */
  readonly queued: number;
}

/** The number of outcomes of due work: attempts that failed, work that was given up, and work that nobody wanted any more. */
export interface DueCount {
  /** The kind of work: `schedule`, `delivery` and others. */
  readonly kind: string;
  readonly outcome: 'failed' | 'dead' | 'dropped';
  readonly count: number;
}

/** The present state of a gateway in numbers, for this process only. Counting takes time in proportion to the sessions and connections in memory. */
export interface GatewayStats extends FeatureStats {
  readonly gatewayId: string;
  /** Whether new work is refused because the gateway drains. */
  readonly draining: boolean;
  /** Whether new work is taken, as `/readyz` says, and for how long it has been so. */
  readonly ready: ReadyState;
  readonly load: {
    /** Lateness of the event loop at the last look, in milliseconds; 0 if a turn is in time. */
    readonly delayMs: number;
    /** Whether new work is refused because of it (`limits.loopDelayMs`). */
    readonly refusing: boolean;
    /** Time that pieces of answers wait to be joined, on average, in milliseconds (`limits.gatherMs`). */
    readonly gatherMs: number;
  };
  readonly store: {
    readonly durability: Store['durability'];
    /** Whether the store is open. The first request opens it. */
    readonly open: boolean;
    /** Whether other gateways may use it at the same time. */
    readonly shared: boolean;
    /** How far the clock of a shared store is ahead of this process's, in milliseconds; 0 for other stores. */
    readonly skewMs: number;
  };
  readonly sessions: {
    /** Sessions in memory. */
    readonly live: number;
    /** Those whose log is written here. */
    readonly held: number;
    /** Sessions that a shared store said were held here and were not, at the last look. They were taken up. */
    readonly stray: number;
  };
  readonly runs: RunCounts & {
    /** Numbers of runs by name of the app, including apps without runs. */
    readonly apps: Readonly<Record<string, RunCounts>>;
    /** Active runs whose apps wait for their turn (`limits.runsAtOnce`, `limits.tenant.runsAtOnce`). */
    readonly waiting: number;
    /** Open questions and confirmations. */
    readonly questions: number;
    /** Runs whose ends a close would wait for. The others go on at another gateway, or in the next process. */
    readonly waitedFor: number;
  };
  /** Work at its time: schedules, deliveries of notices, and others. */
  readonly due: {
    /** Outcomes here since the gateway was made. Work that was done is not counted. */
    readonly outcomes: readonly DueCount[];
  };
  readonly calls: {
    /** Method calls in progress, without streams. */
    readonly methods: number;
    /** Open streams of methods. */
    readonly streams: number;
    /** Tool calls that belong to no run. */
    readonly tools: number;
  };
  readonly connections: {
    /** Open streams of events, including those of one run and of readers in this process. */
    readonly open: number;
    /** Those whose reader lags behind. */
    readonly blocked: number;
    /** Open streams by transport: `sse`, `websocket`, `unix-socket`, `in-process`, `host`. */
    readonly transports: Readonly<Record<string, number>>;
    /** Number of sessions that they follow, all together. */
    readonly subscriptions: number;
  };
  /** Everything that connections were sent since the gateway was made, including connections that have ended. */
  readonly delivered: {
    /** Logged events, counted per connection. */
    readonly events: number;
    /** Bytes of events and their framing. Readers in this process count none. */
    readonly bytes: number;
    /** Subscriptions of clients by their start: `new` without a cursor, `exact` behind it, or with a `gap`. */
    readonly resumes: Readonly<Record<SubscriptionInfo['resume'], number>>;
    /** Gaps that were announced, by reason. */
    readonly gaps: Readonly<Record<GapReason, number>>;
    /** Streams that were told to come back instead of being opened: while the gateway drains, while the store is away, and while the loop is very late. */
    readonly turnedAway: Readonly<Record<'drain' | 'away' | 'overload', number>>;
    /** Connections that were cut because there were as many as the process may have open. */
    readonly dropped: number;
  };
  /** Bytes written to connections and as answers that were not taken yet. */
  readonly unreadBytes: number;
}
