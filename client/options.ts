import type { HttpOptions } from './transport/http-options.js';
import type { ClientTransport } from './transport/transport.js';
import type { WebSocketClass } from './transport/websocket.js';

/** Options of `createClient`. `baseUrl` is required unless `transport` is an object. */
export interface ClientOptions extends Partial<HttpOptions> {
  /** `auto` tries a WebSocket and falls back to SSE. @default 'sse'; on React Native, whose `fetch` does not stream, 'websocket' */
  readonly transport?: 'sse' | 'websocket' | 'auto' | ClientTransport | undefined;
  /** The class of WebSockets, where there is no global one. `headers`, `credentials` and `fetch` mean nothing to it. */
  readonly WebSocket?: WebSocketClass | undefined;
  /** Milliseconds until an attempt at a request fails with `TIMEOUT`; streams have no limit once they began. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Keeps what is shown and unsent through reloads: `indexedDb` or `storage` of `…/client/offline`. @default nothing is kept */
  readonly persist?: Persistence | undefined;
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

/** What keeps a client's state on its device, made by `…/client/offline`. */
export interface Persistence {
  /** Called once, by the client that is made with it. */
  attach(client: object): void;
}
