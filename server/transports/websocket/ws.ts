import type { ServerOptions, WebSocketServer } from 'ws';

export type { WebSocket, WebSocketServer } from 'ws';

/** Limits for a peer. Some are newer than the published types. */
export interface WebSocketBounds {
  /** Bytes of a message. */
  readonly maxPayload: number;
  /** Pieces of a message. */
  readonly maxFragments: number;
  /** Milliseconds that a peer has to answer a close. */
  readonly closeTimeout: number;
}

/**
 * Creates the server that turns upgrades into WebSockets. It does without compression, so that ready frames can be written past it. The
 * package is loaded on demand, so a gateway that serves only HTTP starts without it.
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
