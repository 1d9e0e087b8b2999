import type { HttpOptions } from '../options.js';
import { autoTransport } from './auto.js';
import { sseTransport } from './sse.js';
import type { ClientTransport } from './transport.js';
import type { SocketOptions } from './websocket.js';
import { webSocketFrames } from './websocket-frames.js';

/** Everything about WebSockets, in one module that is loaded when it is needed. */
export function makeTransport(options: SocketOptions): ClientTransport {
  const webSocket = webSocketFrames(options);
  return options.transport === 'auto'
    ? autoTransport(webSocket, sseTransport(options as HttpOptions))
    : webSocket;
}
