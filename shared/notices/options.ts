import type { GatewayEvent } from '../events.js';
import type { NoticeKind, PushBody, PushTarget, ToldNotice } from './contract.js';

/** The request of another protocol. */
export interface ShapedWebhook {
  readonly id: string;
  readonly body: unknown;
  /** @default 'application/json' */
  readonly mediaType?: string | undefined;
}

/**
 * Turns a notice into the request of another protocol.
 *
 * @param events The events of the notice's run, from its acceptance to the present end of the log; none if they are no longer kept
 * @returns The JSON of the request, and the id that it is signed with, the same at each attempt; null if that protocol has no such request
 */
export type WebhookShape = (
  notice: ToldNotice,
  events: () => AsyncIterable<GatewayEvent>,
) => ShapedWebhook | null | Promise<ShapedWebhook | null>;

/** A receiver of signed requests, after Standard Webhooks. */
export interface WebhookOptions {
  readonly url: string;
  /** Base64 of 24 to 64 random bytes, with `whsec_` before it or without. Two secrets during a rotation: both sign. */
  readonly secrets: string | readonly string[];
  /** The webhook's name in metrics, logs and lists. @default the host of its URL */
  readonly name?: string | undefined;
  /** The kinds of notices that it gets. @default `custom`, and every kind that `NotifyOptions.on` enables */
  readonly on?: readonly NoticeKind[] | undefined;
  /** Whether notices contain the text of an answer and the name of a question. @default false */
  readonly content?: boolean | undefined;
  /** Makes the body of a request. @default the notice, as `WebhookBody` */
  readonly shape?: WebhookShape | undefined;
  /** Longest time to answer, in milliseconds, at most 13 s. @default 10 s */
  readonly timeoutMs?: number | undefined;
}

/** One attempt to deliver a notice. */
export interface DeliverOptions {
  /** The notice's id, as an idempotency key: every attempt has the same. */
  readonly key: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborts if the attempt takes too long. */
  readonly signal: AbortSignal;
}

/** Delivers a notice in the host's own way. The gateway retries after an error. */
export type Deliver = (notice: ToldNotice, options: DeliverOptions) => unknown;

/** Sends pushes to browsers: see `webPush` of `agent-session-gateway/notices`. */
export interface PushSender {
  /** The key that browsers subscribe with. */
  readonly publicKey: string;
  /** Whether a push shows the text of an answer. */
  readonly content: boolean;
  /** Makes the body of a push. */
  show(notice: ToldNotice): PushBody;
  /** The request to the push service. */
  request(
    target: PushTarget,
    payload: PushBody,
  ): Promise<{
    readonly endpoint: string;
    readonly headers: Readonly<Record<string, string | number>>;
    readonly body: Uint8Array;
  }>;
}

/** The addresses that callers may have told of their runs. */
export interface RunWebhookOptions {
  /** Their origins, such as `https://hooks.example.com`. @default all that are public, by HTTPS */
  readonly origins?: readonly string[] | undefined;
}

/** Options of `notify`: people and systems that learn of events which nobody was there to see. */
export interface NotifyOptions {
  /** The kinds of notices, besides the host's own. @default ['run_ended', 'input_required'] */
  readonly on?: readonly Exclude<NoticeKind, 'custom'>[] | undefined;
  readonly webhooks?: WebhookOptions | readonly WebhookOptions[] | undefined;
  readonly push?: PushSender | undefined;
  readonly deliver?: Deliver | undefined;
  /** Has callers' own addresses told of their runs, over protocols that have a word for it. @default none */
  readonly runWebhooks?: RunWebhookOptions | undefined;
  /** How long a notice waits to be seen, in milliseconds. A notice that is seen in time is not delivered. @default 20 s */
  readonly unseenMs?: number | undefined;
  /** Whether webhooks, callers' too, and pushes may go to private addresses, and over plain HTTP. @default false */
  readonly allowPrivate?: boolean | undefined;
  /** The page that shows a session. */
  readonly url?: ((session: { readonly sessionId: string; readonly app: string }) => string) | undefined;
}

/** The field of a gateway's configuration. */
export interface NoticeConfig {
  /** Tells people of ended runs and open questions while nobody looks. @default nobody */
  readonly notify?: NotifyOptions | undefined;
}
