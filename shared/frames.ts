import type { ErrorBody } from './errors.js';
import type { SubscribeTarget } from './operation-types.js';
import type { ProtocolRange } from './version.js';

/** Opens a connection over a WebSocket or Unix socket; must be the first frame. */
export interface ConnectFrame {
  readonly type: 'connect';
  readonly protocol: ProtocolRange;
  readonly token?: string | undefined;
  readonly subscribe?: readonly SubscribeTarget[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Asks for an operation; answered by one `res` of the same id. */
export interface RequestFrame {
  readonly type: 'req';
  readonly id: string;
  /** An operation, or the colon path of a method. */
  readonly method: string;
  readonly params?: unknown;
  /** Chunks of a streaming method that may be sent before `more` allows more. Without it there is no such bound. */
  readonly window?: number | undefined;
  /** The caller's span (W3C Trace Context), like the header of an HTTP request. A malformed one is ignored. */
  readonly traceparent?: string | undefined;
}

/** Allows `count` more chunks of a streaming method. */
export interface MoreFrame {
  readonly type: 'more';
  readonly id: string;
  readonly count: number;
}

/** Refreshes the token of the same user. The answer is `authenticated`; on `error` the old token stays in use. */
export interface AuthFrame {
  readonly type: 'auth';
  readonly token: string;
}

/** Ends an `invoke`, streaming or not, which is then answered with `ABORTED`. Never ends a run. */
export interface CancelFrame {
  readonly type: 'cancel';
  readonly id: string;
}

/** A sign of life, and its answer with the same `timestamp` (milliseconds since the epoch). */
export interface PingFrame {
  readonly type: 'ping' | 'pong';
  readonly timestamp: number;
}

/** A frame that a client writes to a socket. */
export type ClientFrame = ConnectFrame | RequestFrame | MoreFrame | AuthFrame | CancelFrame | PingFrame;

/** The one answer of a request. */
export type ResponseFrame =
  | { readonly type: 'res'; readonly id: string; readonly ok: true; readonly payload?: unknown }
  | { readonly type: 'res'; readonly id: string; readonly ok: false; readonly error: ErrorBody };

/** One item of a streaming method. */
export interface StreamItem {
  /** Absent if the item tells only a place. */
  readonly data?: unknown;
  /** The item's place, if the method gives one. A call with this `lastEventId` continues after it. */
  readonly eventId?: string;
}

/** One item of a streaming method, over a socket. */
export interface ChunkFrame extends StreamItem {
  readonly type: 'chunk';
  readonly id: string;
}

/** An event of a session or of the connection. */
export interface EventFrame {
  /** The type of the event. No other frame has this field, and this one has no `type`. */
  readonly event: string;
  readonly type?: never;
  /** The cursor, for events of a log. */
  readonly id?: string;
  readonly data: unknown;
}

/** The refreshed token counts from now on. */
export interface AuthenticatedFrame {
  readonly type: 'authenticated';
  /** Epoch milliseconds. */
  readonly authExpiresAt?: number;
  /** Milliseconds the token is still good for, whatever the receiver's clock says. */
  readonly authExpiresInMs?: number;
}

/** A failure outside any request: an unreadable frame, or an error of the connection, which closes after it. */
export interface ErrorFrame extends ErrorBody {
  readonly type: 'error';
}

/** A frame that a gateway writes to a socket. */
export type ServerFrame =
  | ResponseFrame
  | ChunkFrame
  | EventFrame
  | AuthenticatedFrame
  | ErrorFrame
  | PingFrame;
