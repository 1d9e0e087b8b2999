import type { ServerOptions, WebSocketServer } from 'ws';

export type { WebSocket, WebSocketServer } from 'ws';

/** Bounds of what a peer may do; some are newer than the published types. */
export interface WebSocketBounds {
  /** Bytes of a message. */
  readonly maxPayload: number;
  /** Pieces of a message. */
  readonly maxFragments: number;
  /** Milliseconds a peer has to answer a close. */
  readonly closeTimeout: number;
}

/**
 * Makes what turns upgrades into WebSockets, without compression, so that ready frames can be written beside it. The package is loaded
 * here: a gateway that serves HTTP alone starts without it.
 */
export async function createWebSocketServer(bounds: WebSocketBounds): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  const options: ServerOptions = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    ...bounds,
  };
  return new WebSocketServer(options);
}
