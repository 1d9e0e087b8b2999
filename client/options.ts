import type { ClientTransport } from './transport/transport.js';
import type { WebSocketClass } from './transport/websocket.js';

/** A value, or a function that is called at each attempt. `refresh` is true after the last value was refused with 401, or runs out. */
export type Supplied<T> = T | ((context: { readonly refresh: boolean }) => T | Promise<T>);

/** How to reach a gateway over HTTP. */
export interface HttpOptions {
  /** Mount of the gateway; relative to the page in browsers. A slash at its end makes no difference. */
  readonly baseUrl: string;
  /**
   * Sent as `Authorization: Bearer`; null or an empty text sends none. Whoever needs a new one at the same time shares one call with
   * `refresh`, and there is one at most every 5 s.
   */
  readonly token?: Supplied<string | null | undefined> | undefined;
  readonly headers?: Supplied<Readonly<Record<string, string>>> | undefined;
  /** Whether cookies travel, as in `fetch`. */
  readonly credentials?: 'include' | 'omit' | 'same-origin' | undefined;
  /** The gateway's own `extraRoutes`, where it moved them; below Nest's default controller `/_gateway`. @default '' */
  readonly extraRoutes?: string | undefined;
  /** @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Options of `createClient`. `baseUrl` is required unless `transport` is an object. */
export interface ClientOptions extends Partial<HttpOptions> {
  /** `auto` tries a WebSocket and falls back to SSE. @default 'sse'; on React Native, whose `fetch` does not stream, 'websocket' */
  readonly transport?: 'sse' | 'websocket' | 'auto' | ClientTransport | undefined;
  /** The class of WebSockets, where there is no global one. `headers`, `credentials` and `fetch` mean nothing to it. */
  readonly WebSocket?: WebSocketClass | undefined;
  /** Milliseconds until an attempt at a request fails with `TIMEOUT`; streams have no limit once they began. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds a page may be hidden before it lets its SSE stream go, of which a browser has six for an origin over HTTP/1.1. Shown
   * again, it goes on from its place. A run of this client's that goes on keeps the stream; `false` always does. @default 20000
   */
  readonly hiddenMs?: number | false | undefined;
}

/** Options every call takes. */
export interface SignalOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}
