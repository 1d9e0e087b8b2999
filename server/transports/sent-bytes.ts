import type { Writable } from 'node:stream';

/** The part of Node's handles that says how much of what was written has left; Node's own socket time-outs look at it. */
interface Handle {
  readonly bytesWritten?: unknown;
  readonly writeQueueSize?: unknown;
}

/**
 * Bytes that a socket's receiver has taken so far. `bytesWritten` alone counts a write when it begins, however large it is, so it
 * would not move for as long as one large event is on its way.
 */
export function sentBytes(socket: Writable | null | undefined): number {
  if (!socket) return 0;
  try {
    const { _handle: handle } = socket as { _handle?: Handle | null };
    const { bytesWritten, writeQueueSize } = handle ?? {};
    if (typeof bytesWritten === 'number' && typeof writeQueueSize === 'number')
      return bytesWritten - writeQueueSize;
    // Another kind of socket: whole writes count.
    const { bytesWritten: total = 0 } = socket as { bytesWritten?: number };
    return total - socket.writableLength;
  } catch {
    // HTTP/2 lends out its socket for some purposes only.
    return 0;
  }
}
