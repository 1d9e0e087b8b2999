import type { GapReason, SubscriptionInfo } from '../../shared/events.js';
import type { NoticeKind } from '../../shared/notices.js';
import type { Store } from '../stores/store.js';

/** How many runs there are. */
export interface RunCounts {
  /** Answering now, or waiting for a person. */
  readonly active: number;
  /** Accepted and waiting for their turn. */
  readonly queued: number;
}

/** What became of a notice, or of an attempt to tell a target: given up (`dead`), to be tried again (`failed`), nobody is there (`gone`). */
export type NoticeOutcome = 'told' | 'seen' | 'failed' | 'dead' | 'gone';

/** How often something became of notices. */
export interface NoticeCount {
  readonly kind: NoticeKind;
  /** Absent where it was of no target's: it was seen. */
  readonly target?: string;
  readonly outcome: NoticeOutcome;
  readonly count: number;
}

/** What a gateway has on its hands now. Plain numbers of this process; counting them takes as long as there are sessions and connections in memory. */
export interface GatewayStats {
  readonly gatewayId: string;
  /** Whether new work is turned away. */
  readonly draining: boolean;
  readonly load: {
    /** How late the event loop was when it was last looked, in milliseconds; 0 where a turn is in time. */
    readonly delayMs: number;
    /** Whether new work is refused for it (`limits.loopDelayMs`). */
    readonly refusing: boolean;
  };
  readonly store: {
    readonly durability: Store['durability'];
    /** Whether it was opened, which the first request does. */
    readonly open: boolean;
    /** Whether other gateways may use it at the same time. */
    readonly shared: boolean;
  };
  readonly sessions: {
    /** In memory. */
    readonly live: number;
    /** Those of them whose log is written here. */
    readonly held: number;
    /** Those that a shared store said are held here, and were not, when that was last looked for: they were taken up. */
    readonly stray: number;
  };
  readonly runs: RunCounts & {
    /** By the name of the app; apps without any are there with zeros. */
    readonly apps: Readonly<Record<string, RunCounts>>;
    /** Questions and confirmations that wait for a person. */
    readonly questions: number;
  };
  /** What people and systems are told who are away. */
  readonly notices: {
    /** Deliveries on their way now. */
    readonly sending: number;
    /** What became of notices here since the gateway was made. */
    readonly outcomes: readonly NoticeCount[];
  };
  readonly calls: {
    /** Method calls that are not answered yet, streams not counted. */
    readonly methods: number;
    /** Open streams of methods. */
    readonly streams: number;
    /** Tool calls that belong to no run. */
    readonly tools: number;
  };
  readonly connections: {
    /** Open streams of events, also those of one run and of readers in this process. */
    readonly open: number;
    /** Those of them whose reader does not keep up now. */
    readonly blocked: number;
    /** By transport: `sse`, `websocket`, `unix-socket`, `in-process`, `host`. */
    readonly transports: Readonly<Record<string, number>>;
    /** Sessions that they follow, all together. */
    readonly subscriptions: number;
  };
  /** What connections were sent since the gateway was made, those that have ended too. */
  readonly delivered: {
    /** Logged events, once for each connection that was sent them. */
    readonly events: number;
    /** Bytes of events and what goes with them; readers in this process take none. */
    readonly bytes: number;
    /** How sessions were taken up that a client followed: `new` without a cursor, `exact` behind it, or with a `gap`. */
    readonly resumes: Readonly<Record<SubscriptionInfo['resume'], number>>;
    /** Gaps that were announced, by their reason. */
    readonly gaps: Readonly<Record<GapReason, number>>;
  };
  /** Bytes that were written to connections and as answers, and that nobody has taken yet. */
  readonly unreadBytes: number;
}
