import type { ClientOptions, Source } from '../options.js';
import { lazyTransport } from './lazy.js';
import type { ClientTransport } from './transport.js';
import type { WebSocketClass } from './websocket-class.js';

/** How to reach a gateway over a WebSocket. */
export interface WebSocketOptions {
  /** Mount of the gateway, as for HTTP: `/ws` is added. Relative to the page in browsers. */
  readonly baseUrl?: string | undefined;
  /** The whole URL of the WebSocket, instead of `baseUrl`. */
  readonly url?: string | undefined;
  readonly token?: Source<string | null | undefined> | undefined;
  /** @default the global `WebSocket` */
  readonly WebSocket?: WebSocketClass | undefined;
}

/** What a client was told. */
export type SocketOptions = WebSocketOptions & Pick<ClientOptions, 'transport'>;

/**
 * One WebSocket for requests and events alike. The token travels in the first frame, never in the URL. Its code is loaded when it
 * is used, so that a page without WebSockets does not carry it.
 *
 * @example
 * ```ts
 * const client = createClient({ transport: webSocketTransport({ url: 'wss://example.com/agent/ws', token: 'secret' }) });
 * ```
 */
export function webSocketTransport(options: WebSocketOptions): ClientTransport {
  return socketTransport({ ...options, transport: 'websocket' });
}

/** The transport that the options of a client name: a WebSocket, or `auto`. */
export function socketTransport(options: SocketOptions): ClientTransport {
  let made: ClientTransport | undefined;
  return lazyTransport(options.transport as string, async () => {
    const { makeTransport } = await import('./sockets.js');
    made ??= makeTransport(options);
    return made;
  });
}
