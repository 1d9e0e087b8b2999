import type { GatewayEvent } from '../../shared/events.js';
import type { NoticeKind, PushBody, PushTarget, ToldNotice } from '../../shared/notices.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/**
 * Says a notice in the words of another protocol.
 *
 * @param events The events of the notice's run, from its acceptance to where the log is now; none where they are not kept any more
 * @returns The JSON of the request, and the id that it is signed with, the same at each attempt; null where that protocol says nothing of it
 */
export type WebhookShape = (
  notice: ToldNotice,
  events: () => AsyncIterable<GatewayEvent>,
) => MaybePromise<{ readonly id: string; readonly body: unknown } | null>;

/** Somebody who is told by a signed request, after Standard Webhooks. */
export interface WebhookOptions {
  readonly url: string;
  /** Base64 of 24 to 64 random bytes, with `whsec_` before it or without. Two while one takes the place of the other: both sign. */
  readonly secrets: string | readonly string[];
  /** What it is called in metrics, logs and lists. @default the host of its URL */
  readonly name?: string | undefined;
  /** What it is told of. @default all that there are notices of */
  readonly on?: readonly NoticeKind[] | undefined;
  /** Whether it is told the text of an answer, and the name of what is asked. @default false */
  readonly content?: boolean | undefined;
  /** What a request says. @default the notice, as `WebhookBody` */
  readonly shape?: WebhookShape | undefined;
  /** How long it may take to answer, at most 13 s. @default 10 s */
  readonly timeoutMs?: number | undefined;
}

/** One attempt to tell somebody. */
export interface DeliverOptions {
  /** The notice's id: what is done under it twice is to come to the same. */
  readonly key: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborts where it takes too long. */
  readonly signal: AbortSignal;
}

/** Tells a notice in a way of the host's. What it throws is tried again. */
export type Deliver = (notice: ToldNotice, options: DeliverOptions) => unknown;

/** How pushes are sent to browsers: see `webPush` of `agent-session-gateway/notices`. */
export interface PushSender {
  /** The key that browsers subscribe with. */
  readonly publicKey: string;
  /** Whether it shows the text of an answer. */
  readonly content: boolean;
  /** What a browser is told. */
  show(notice: ToldNotice): PushBody;
  /** The request to the push service. */
  request(
    target: PushTarget,
    payload: PushBody,
  ): Promise<{
    readonly endpoint: string;
    readonly headers: Readonly<Record<string, string | number>>;
    readonly body: Buffer;
  }>;
}

/** Who is told of what happens while nobody looks. */
export interface NotifyOptions {
  /** What there are notices of, beside those of the host's own. @default ['run_ended', 'input_required'] */
  readonly on?: readonly Exclude<NoticeKind, 'custom'>[] | undefined;
  readonly webhooks?: WebhookOptions | readonly WebhookOptions[] | undefined;
  readonly push?: PushSender | undefined;
  readonly deliver?: Deliver | undefined;
  /** How long a notice waits for somebody to see what it tells of, in milliseconds: nobody is told then. @default 20 s */
  readonly unseenMs?: number | undefined;
  /** Whether webhooks and pushes may go to private addresses, and over plain HTTP. @default false */
  readonly allowPrivate?: boolean | undefined;
  /** The page that shows a session. */
  readonly url?: ((session: { readonly sessionId: string; readonly app: string }) => string) | undefined;
}
