import type { Source } from '../options.js';
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

/**
 * One WebSocket for requests and events alike. The token travels in the first frame, never in the URL. Its code is loaded when it
 * is used, so that a page without WebSockets does not carry it.
 */
export function webSocketTransport(options: WebSocketOptions): ClientTransport {
  let made: ClientTransport | undefined;
  return lazyTransport('websocket', async () => {
    const { webSocketFrames } = await import('./websocket-frames.js');
    made ??= webSocketFrames(options);
    return made;
  });
}
