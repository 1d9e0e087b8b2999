import type { CauseFields, FeatureCause } from '../feature-events.js';
import type { StopReason } from '../messages.js';

/**
 * The kinds of notices for people and systems that are away: a run has ended, a question waits, somebody has taken over, the app asks for a
 * person, the host has a message of its own, and what features tell.
 */
export type NoticeKind = 'run_ended' | 'input_required' | 'taken_over' | 'hand_off' | 'custom' | FeatureCause;

/** A notice for somebody who is away. */
export interface Notice extends CauseFields {
  /** The notice's own id, equal in each delivery, so that receivers can drop a repetition. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** The session by the receiver's name for it: its key, or the address of the receiver's grant. */
  readonly sessionId: string;
  readonly app: string;
  /** Id of the receiver, whose run or session it is. Absent if nobody is known. */
  readonly userId?: string;
  readonly runId?: string;
  /** The question that waits (`input_required`). */
  readonly callId?: string;
  /** How the run ended (`run_ended`). */
  readonly stopReason?: StopReason;
  /** Id of the user who has taken over (`taken_over`), or who took the message back (`message_retracted`). */
  readonly by?: string;
  /** Roles that are asked (`hand_off`); absent if everybody who may take over is asked. */
  readonly roles?: readonly string[];
  /** The host's text (`custom`). */
  readonly title?: string;
  readonly body?: string;
  readonly data?: unknown;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** The place in the session's log that it is about; absent for `custom`. */
  readonly cursor?: string;
}

/** A host's own notice about a session. */
export interface CustomNotice {
  /**
   * The notice's id in its session, 1 to 256 characters. While one with this id waits, another is not told; nor is it to a target that is still owed
   * the first.
   *
   * @default a new one
   */
  readonly id?: string | undefined;
  readonly title: string;
  readonly body?: string | undefined;
  /** JSON. All fields together take at most 4,096 characters. */
  readonly data?: unknown;
}

/** A notice as it is delivered. */
export interface ToldNotice extends Notice {
  /** A page that shows the session, made by the gateway's `notify.url`. */
  readonly url?: string;
  /** The text of the ended answer, the name of the question, or a reason, if content is asked for. */
  readonly text?: string;
}

/** The body of a webhook. */
export interface WebhookBody {
  readonly type: NoticeKind;
  /** When it happened, in ISO 8601. */
  readonly timestamp: string;
  readonly data: ToldNotice;
}

/** The payload of a push to a service worker. */
export interface PushBody {
  /** The notice's id. Its notification replaces an earlier one of the same id. */
  readonly id: string;
  readonly kind: NoticeKind;
  readonly sessionId: string;
  readonly title: string;
  readonly body: string;
  readonly url?: string;
}

/** The state of a notice at one target. */
export interface NoticeState {
  readonly id: string;
  readonly kind: NoticeKind;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  readonly runId?: string;
  readonly title?: string;
  /** The kind of target; absent before any delivery, and if none is needed. */
  readonly target?: 'webhook' | 'push' | 'deliver' | 'run-webhook';
  /** The name that a host gave a webhook, or the first characters of a browser's id. */
  readonly name?: string;
  /**
   * `waiting` to be seen, for its turn or for its first attempt; `failed` and to be retried; `told`; `dead`: given up; `gone`: the receiver no longer
   * exists, or may not read the session any more; `seen`: the person read it before it was told.
   */
  readonly state: 'waiting' | 'failed' | 'told' | 'dead' | 'gone' | 'seen';
  readonly attempts: number;
  /** The end of the last attempt, or the time when the notice was found to be seen, in milliseconds since the epoch. */
  readonly changedAt?: number;
  /** The time of the next action, in milliseconds since the epoch. */
  readonly nextAt?: number;
}

/** A subscription of a browser to pushes, as `PushSubscription.toJSON()` has it. */
export interface PushTarget {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** Adds or removes a push subscription of the caller's browsers. Without either field it only reads. */
export interface PushParams {
  readonly add?: PushTarget | undefined;
  /** The endpoint of a subscription. An unknown one is ignored. */
  readonly remove?: string | undefined;
}

/** The caller's push subscriptions. */
export interface PushResult {
  /** The key that a browser subscribes with (`applicationServerKey`); null if the gateway sends no pushes. */
  readonly publicKey: string | null;
  /** How many subscriptions the caller has. */
  readonly subscriptions: number;
}

/** The outcome of a notice, or of an attempt to deliver it: given up (`dead`), to be tried again (`failed`), no receiver left (`gone`). */
export type NoticeOutcome = 'told' | 'seen' | 'failed' | 'dead' | 'gone';

/** The number of notices with one outcome. */
export interface NoticeCount {
  readonly kind: NoticeKind;
  /** Absent for an outcome without a target, such as `seen`. */
  readonly target?: string;
  readonly outcome: NoticeOutcome;
  readonly count: number;
}

/** The numbers of notices in `gateway.stats()`. */
export interface NoticeStats {
  /** Notices to people and systems that are away. */
  readonly notices: {
    /** Deliveries in progress. */
    readonly sending: number;
    /** Outcomes of notices here since the gateway was made. */
    readonly outcomes: readonly NoticeCount[];
  };
}

/** A delivery that failed at least once and is not told. */
export interface FailedNotice {
  /** Id of the delivery: the notice's id and the target. */
  readonly id: string;
  readonly notice: Notice;
  readonly scope: string;
  readonly target: string;
  /** Whether the delivery was given up. Only `resendNotice` sends it again. */
  readonly dead: boolean;
  readonly attempts: number;
  /** Why the last attempt failed, and when. */
  readonly error: string;
  readonly failedAt: number;
  /** The time of the next attempt, in milliseconds since the epoch; absent if the delivery was given up. */
  readonly nextAt?: number;
}

/** Selects undelivered notices. */
export interface FailedNoticesOptions {
  /** Only notices that were given up. @default also those that are tried again */
  readonly dead?: boolean | undefined;
}

/** The operators' access to notices. */
export interface NoticeOperator {
  failedNotices(options?: FailedNoticesOptions): AsyncIterable<FailedNotice>;
  /** @returns the number that is sent again */
  resendNotice(id: string): Promise<number>;
}

/** An address that is told as a run asks and as it ends. */
export interface RunWebhook {
  /** Its name among those of its run, 1 to 64 characters. */
  readonly id: string;
  readonly url: string;
  /** Headers of its requests: `authorization`, and those that begin with `x-`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adds or removes a webhook of a run. One of the same id is replaced, an unknown one is ignored. */
export interface RunWebhookChange {
  readonly add?: RunWebhook;
  readonly remove?: string;
}

/** Calls on a session that host code has and no client. */
export interface NoticeHostCalls {
  'run-webhooks': {
    params: RunWebhookChange & {
      readonly sessionId: string;
      readonly runId: string;
      /** The name of the plugin that writes the requests. */
      readonly form: string;
    };
    result: { readonly webhooks: readonly RunWebhook[] };
  };
  notify: {
    params: { readonly sessionId: string; readonly notice: CustomNotice };
    result: { readonly id: string };
  };
}

/** The operations on notices and pushes. */
export interface NoticeOperations {
  notices: {
    params: { readonly sessionId: string };
    /** The newest first. */
    result: { readonly notices: readonly NoticeState[] };
  };
  push: { params: PushParams; result: PushResult };
}

/** The properties of its operations that a client has to know, and the names of all others (`shared/calls.ts`). */
export const NOTICE_CALLS = { notices: 'GET' } as const;
export const NOTICE_NAMED = ['push'] as const;

/** The limits of pushes. */
export interface NoticeLimits {
  /** Browsers of one user that receive pushes. @default 16 */
  readonly pushSubscriptions: number;
  /** Webhooks of one user's runs, each until it was told of the run's end or is removed. @default 100 */
  readonly runWebhooks: number;
}

/** Sends a session's user a notice of the host's own. */
export interface NoticeHandle {
  /**
   * Sends the session's user a notice of the host, by the same way as the gateway's `notify` tells of runs that end.
   *
   * @returns the id of the notice: the key of `deliver`, and the id of webhooks
   */
  notify(notice: CustomNotice): Promise<{ readonly id: string }>;
}
