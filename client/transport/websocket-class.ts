/** The part of a `WebSocket` that is used; browsers, Node (from 22) and the `ws` package have it. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(): void;
}

/** A `WebSocket` class. */
export type WebSocketClass = new (url: string) => WebSocketLike;
