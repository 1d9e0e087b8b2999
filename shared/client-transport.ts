import type { CallName } from './calls.js';
import type { GatewayEvent } from './events.js';
import type { StreamItem } from './frames.js';
import type { GatewayError } from './gateway-error.js';
import type { SubscribeTarget } from './operation-types.js';

/** Options of one request or streaming call, which rejects when the signal aborts. */
export interface TransportOptions {
  readonly signal: AbortSignal;
  /** Milliseconds until a stream that was not answered at all fails with `TIMEOUT`. */
  readonly answerMs?: number | undefined;
}

/** Sessions to follow from now on, to follow from another place, or to follow no more. */
export interface SubscriptionChange {
  readonly add?: readonly SubscribeTarget[];
  readonly remove?: readonly string[];
}

/** Why a link ended. */
export interface LinkEnd {
  readonly error?: GatewayError | undefined;
  /** Milliseconds the gateway asks to wait before the next link. */
  readonly retryMs?: number | undefined;
}

/** The callbacks of a link. None is called before `open` has returned. */
export interface LinkHandlers {
  /** Every event in the order of the wire, the first of them `connected`. */
  onEvent(event: GatewayEvent): void;
  /** Bytes came, also of an event that is not whole yet. */
  onProgress?(): void;
  /** The link will end soon, or a new one would serve better. Open that while this one still works. */
  onStale?(): void;
  /** Called exactly once, after the last event. */
  onClose(end: LinkEnd): void;
}

/** One attempt at the stream of events. */
export interface Link {
  /** Changes the sessions, each answered by a `subscribed` event. Called only after `connected`. */
  subscribe(change: SubscriptionChange): Promise<void>;
  /** Ends the link at once. */
  close(): void;
}

/** Whose credentials have taken the place of others. */
export type CredentialsChange = 'other' | 'same' | 'unknown';

/**
 * How a client reaches its gateway. Credentials are read again at each attempt, and once more when they are refused. Everything
 * rejects with a `GatewayError`: `NETWORK` when it is unknown whether the request arrived.
 */
export interface ClientTransport {
  readonly name: string;
  /** The address it leads to, for its client's errors. @default its name */
  readonly address?: string | undefined;
  /** Whether each link takes one of the few connections a browser opens to an origin. Hidden pages then close theirs. */
  readonly isScarce?: boolean | undefined;
  /** Whether it ends silent links by itself. */
  readonly isGuarded?: boolean | undefined;
  /** One operation. `send` resolves at acceptance, with `Accepted`. */
  request(operation: CallName, params: unknown, options: TransportOptions): Promise<unknown>;
  /** Calls a streaming method. Leaving the iteration cancels the call. */
  stream(params: unknown, options: TransportOptions): AsyncIterable<StreamItem>;
  /**
   * Makes one attempt to follow sessions; the list may be empty. Sessions that `connected` does not name are then asked for by `subscribe`. Links may
   * overlap: a new link opens before the old one closes, or for a reader that lags behind.
   */
  open(targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link;
  /**
   * Whether the credentials are others than those of the last link, as far as that can be seen without waiting; undefined if they are the same.
   * `other`: of another person. `same`: of the same one. `unknown`: only the gateway can tell. Later requests and links use the present ones.
   */
  look?(): CredentialsChange | undefined;
  /** Frees all that outlives links and requests. The transport may be used again. */
  close(): void;
}
