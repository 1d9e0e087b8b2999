import type { Writable } from 'node:stream';

/** The part of Node's handles that counts the bytes sent so far. Node's own socket time-outs use it too. */
interface Handle {
  readonly bytesWritten?: unknown;
  readonly writeQueueSize?: unknown;
}

/**
 * Bytes that a socket's receiver has taken so far. `bytesWritten` alone counts a whole write when it begins, so it would not move while
 * one large event is on its way.
 */
export function sentBytes(socket: Writable | null | undefined): number {
  if (!socket) return 0;
  try {
    const { _handle: handle } = socket as { _handle?: Handle | null };
    const { bytesWritten, writeQueueSize } = handle ?? {};
    if (typeof bytesWritten === 'number' && typeof writeQueueSize === 'number')
      return bytesWritten - writeQueueSize;
    // Other kinds of sockets count only whole writes.
    const { bytesWritten: total = 0 } = socket as { bytesWritten?: number };
    return total - socket.writableLength;
  } catch {
    // Some members of an HTTP/2 stream's socket throw.
    return 0;
  }
}
