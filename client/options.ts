import type { HttpOptions } from './transport/http-options.js';
import type { ClientTransport } from './transport/transport.js';
import type { WebSocketClass } from './transport/websocket.js';

/** Options of `createClient`. `baseUrl` is required unless `transport` is an object. */
export interface ClientOptions extends Partial<HttpOptions> {
  /** `auto` tries a WebSocket and falls back to SSE. @default 'sse'; on React Native, whose `fetch` does not stream, 'websocket' */
  readonly transport?: 'sse' | 'websocket' | 'auto' | ClientTransport | undefined;
  /** The class of WebSockets, if there is no global one. It ignores `headers`, `credentials` and `fetch`. */
  readonly WebSocket?: WebSocketClass | undefined;
  /** Milliseconds until an attempt at a request fails with `TIMEOUT`. A stream has no limit once it has begun. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Keeps shown states and unsent messages through reloads: `indexedDb` or `storage` of `…/client/offline`. @default nothing is kept */
  readonly persist?: Persistence | undefined;
  /**
   * Milliseconds a page may be hidden before it lets its SSE stream go, since browsers allow six for an origin over HTTP/1.1. When shown again, it
   * goes on from its place. An unfinished run of this client keeps the stream; `false` always does. @default 20000
   */
  readonly hiddenMs?: number | false | undefined;
}

/** Options every call takes. */
export interface SignalOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Keeps a client's state on its device; made by `…/client/offline`. */
export interface Persistence {
  /** Called once, by the client that was created with it. */
  attach(client: object): void;
}
