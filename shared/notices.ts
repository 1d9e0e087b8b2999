import type { StopReason } from './messages.js';

/**
 * What people and systems are told of that left: a run has ended, a question waits, a schedule has fired, somebody has taken over, the app
 * asks for a person, or what a host says itself.
 */
export type NoticeKind =
  | 'run_ended'
  | 'input_required'
  | 'schedule_fired'
  | 'taken_over'
  | 'hand_off'
  | 'custom';

/** Something to be told to somebody who is not there. */
export interface Notice {
  /** The same each time it is told, and no other notice's: whoever gets it twice knows it by this. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** Canonical key of the session. */
  readonly sessionId: string;
  readonly app: string;
  /** Id of the user who is told: whose run or session it is. Absent where nobody is known. */
  readonly userId?: string;
  readonly runId?: string;
  /** The question that waits (`input_required`). */
  readonly callId?: string;
  /** How the run ended (`run_ended`). */
  readonly stopReason?: StopReason;
  /** The instant of a schedule (`schedule_fired`). */
  readonly schedule?: { readonly id: string; readonly instant: number };
  /** Id of the user who has taken over (`taken_over`). */
  readonly by?: string;
  /** Roles of those who are asked (`hand_off`); absent for everybody who may take over. */
  readonly roles?: readonly string[];
  /** What a host says (`custom`). */
  readonly title?: string;
  readonly body?: string;
  readonly data?: unknown;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** The place of what it tells of in the session's log; absent for `custom`. */
  readonly cursor?: string;
}

/** What a host tells somebody of a session itself. */
export interface CustomNotice {
  /** Its own in its session: told twice under it, it is told once, while it waits. @default a new one */
  readonly id?: string | undefined;
  readonly title: string;
  readonly body?: string | undefined;
  /** JSON. All of it together takes at most 4,096 characters. */
  readonly data?: unknown;
}

/** A notice as it is told. */
export interface ToldNotice extends Notice {
  /** A page that shows the session, as the gateway's `notify.url` says. */
  readonly url?: string;
  /** The text of the answer that has ended, the name of what is asked, or a reason, where content is asked for. */
  readonly text?: string;
}

/** The body of a webhook. */
export interface WebhookBody {
  readonly type: NoticeKind;
  /** When it happened, in ISO 8601. */
  readonly timestamp: string;
  readonly data: ToldNotice;
}

/** What a push tells a service worker. */
export interface PushBody {
  /** Of the notice: a notification of the same one takes its place. */
  readonly id: string;
  readonly kind: NoticeKind;
  readonly sessionId: string;
  readonly title: string;
  readonly body: string;
  readonly url?: string;
}

/** What became of a notice where one target is told, or is to become of it. */
export interface NoticeState {
  readonly id: string;
  readonly kind: NoticeKind;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  readonly runId?: string;
  readonly title?: string;
  /** How it is told; absent before anybody is, and where nobody has to be. */
  readonly target?: 'webhook' | 'push' | 'deliver';
  /** The name that a host gave a webhook, or the first characters of a browser's id. */
  readonly name?: string;
  /**
   * It waits: to be seen, for its turn, for its first attempt. It failed, and is tried again. Then it was told, is given up (`dead`), nobody
   * is there any more (`gone`), or it was read before (`seen`).
   */
  readonly state: 'waiting' | 'failed' | 'told' | 'dead' | 'gone' | 'seen';
  readonly attempts: number;
  /** When the last attempt ended, or it was found to be seen, in milliseconds since the epoch. */
  readonly changedAt?: number;
  /** When something is to be done about it next, in milliseconds since the epoch. */
  readonly nextAt?: number;
}

/** A subscription of a browser to pushes, as `PushSubscription.toJSON()` has it. */
export interface PushTarget {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** Subscribes browsers of the caller's to pushes, and takes them back; without either it only asks. */
export interface PushParams {
  readonly add?: PushTarget | undefined;
  /** The endpoint of a subscription. One that there is not is nothing to do. */
  readonly remove?: string | undefined;
}

/** What there is of pushes. */
export interface PushResult {
  /** The key that a browser subscribes with (`applicationServerKey`); null where the gateway sends no pushes. */
  readonly publicKey: string | null;
  /** How many subscriptions the caller has. */
  readonly subscriptions: number;
}
