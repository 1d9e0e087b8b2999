import { WEBSOCKET_PATH } from '../../shared/calls.js';
import { attempt } from '../listeners.js';
import { misused } from './failure.js';
import type { FrameWireHandlers } from './frame-socket.js';
import { type FrameTransport, frameTransport } from './frames.js';
import { below, urlOf } from './http.js';
import type { Supplied } from './http-options.js';
import type { ClientTransport } from './transport.js';

const OPEN = 1;

/** The used part of a `WebSocket`. Browsers, Node (from 22) and the `ws` package have it. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(): void;
}

/** How a socket ended, as far as the runtime says. */
interface SocketEnd {
  readonly code?: number;
  readonly reason?: string;
  readonly error?: unknown;
  readonly message?: string;
}

/** A `WebSocket` class. */
export type WebSocketClass = new (url: string) => WebSocketLike;

/** Options for reaching a gateway over a WebSocket. */
export interface WebSocketOptions {
  /** Mount of the gateway, as for HTTP: `/ws` is added. Relative to the page in browsers. */
  readonly baseUrl?: string | undefined;
  /** The whole URL of the WebSocket, instead of `baseUrl`. */
  readonly url?: string | undefined;
  readonly token?: Supplied<string | null | undefined> | undefined;
  /** @default the global `WebSocket` */
  readonly WebSocket?: WebSocketClass | undefined;
}

/**
 * One WebSocket for requests and events. The token travels in the first frame, never in the URL.
 *
 * @example
 * ```ts
 * const client = createClient({ transport: webSocketTransport({ url: 'wss://example.com/agent/ws', token: 'secret' }) });
 * ```
 */
export function webSocketTransport(options: WebSocketOptions): ClientTransport {
  return webSocketFrames(options);
}

/** The same, with the members that `auto` needs. */
export function webSocketFrames(options: WebSocketOptions): FrameTransport {
  return frameTransport({
    name: 'websocket',
    address: options.url ?? webSocketUrl(below(options.baseUrl ?? '', WEBSOCKET_PATH)),
    token: options.token,
    open: (handlers) => openSocket(options, handlers),
  });
}

function openSocket(options: WebSocketOptions, handlers: FrameWireHandlers) {
  const Socket = options.WebSocket ?? (globalThis.WebSocket as unknown as WebSocketClass | undefined);
  if (!Socket) {
    throw misused(
      'There is no WebSocket here: pass one, of the ws package for example, as the WebSocket option',
    );
  }
  const socket = new Socket(addressOf(options));
  let isOver = false;
  // Some classes report a failed connection by `error` alone, others by `close` as well.
  const over = (cause?: unknown) => {
    if (isOver) return;
    isOver = true;
    handlers.onClose(cause);
  };
  socket.onopen = () => handlers.onOpen();
  socket.onmessage = ({ data }: { readonly data: string }) => handlers.onText(data);
  socket.onclose = (event?: SocketEnd) =>
    over(event?.code && `closed with ${event.code} ${event.reason}`.trim());
  socket.onerror = (event?: SocketEnd) => {
    // A socket that was open still emits `close`, after its buffered messages.
    if (socket.readyState !== OPEN) over(event?.error ?? event?.message);
  };
  return {
    send: (text: string) => {
      if (socket.readyState !== OPEN) return;
      try {
        socket.send(text);
      } catch {
        over();
      }
    },
    close: () => {
      // A dead connection takes its time to close, or never does.
      over();
      attempt(() => socket.close());
    },
  };
}

function addressOf({ url, baseUrl }: WebSocketOptions): string {
  if (url !== undefined) return url;
  if (baseUrl === undefined) {
    throw misused('webSocketTransport needs a baseUrl or a url');
  }
  return webSocketUrl(urlOf(baseUrl, WEBSOCKET_PATH));
}

/** Rewrites the text, since not every `URL` class can set the protocol. */
function webSocketUrl(url: string): string {
  return url.replace(/^http/i, 'ws');
}
