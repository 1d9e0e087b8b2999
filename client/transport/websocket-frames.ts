import { WEBSOCKET_PATH } from '../../shared/calls.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { FrameWireHandlers } from './frame-wire.js';
import { FrameTransport } from './frames.js';
import type { WebSocketOptions } from './websocket.js';
import type { WebSocketClass } from './websocket-class.js';

const OPEN = 1;

/** One WebSocket for requests and events alike. The token travels in the first frame, never in the URL. */
export function webSocketFrames(options: WebSocketOptions): FrameTransport {
  return new FrameTransport({
    name: 'websocket',
    token: options.token,
    open: (handlers) => openSocket(options, handlers),
  });
}

function openSocket(options: WebSocketOptions, handlers: FrameWireHandlers) {
  const Socket = options.WebSocket ?? (globalThis.WebSocket as unknown as WebSocketClass | undefined);
  if (!Socket) {
    const message =
      'There is no WebSocket here: pass one, of the ws package for example, as the WebSocket option';
    throw new GatewayError({ code: 'INVALID_REQUEST', message, status: 400 });
  }
  const socket = new Socket(urlOf(options));
  let open = false;
  socket.onopen = () => {
    open = true;
    handlers.onOpen();
  };
  socket.onmessage = ({ data }: { readonly data: string }) => handlers.onText(data);
  socket.onclose = () => handlers.onClose();
  // The close follows; without a listener `ws` would throw.
  socket.onerror = () => {};
  return {
    send: (text: string) => {
      if (open && socket.readyState === OPEN) socket.send(text);
    },
    close: () => socket.close(),
  };
}

function urlOf({ url, baseUrl }: WebSocketOptions): string {
  if (url !== undefined) return url;
  if (baseUrl === undefined) {
    const message = 'webSocketTransport needs a baseUrl or a url';
    throw new GatewayError({ code: 'INVALID_REQUEST', message, status: 400 });
  }
  // Nothing else in the address but the page's own: `location` is missing outside of browsers.
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href;
  const address = new URL(baseUrl.replace(/\/*$/, WEBSOCKET_PATH), page);
  address.protocol =
    address.protocol === 'http:' ? 'ws:' : address.protocol === 'https:' ? 'wss:' : address.protocol;
  return address.href;
}
