import type { Writable } from 'node:stream';

/** The sockets that are written to in the burst that is under way; null while there is none. */
let held: Writable[] | null = null;

/**
 * Does work, at whose end the sockets that it writes to send, one behind the other. A socket that sends between two pieces of work wakes its receiver
 * each time, which costs as much as the work.
 */
export function inBurst(work: () => void): void {
  if (held) return work();
  held = [];
  try {
    work();
  } finally {
    const sockets = held;
    held = null;
    for (const socket of sockets) socket.uncork();
  }
}

/** Has a socket send what is written to it at the end of the burst, if one is under way. Its answer to a write stays the same. */
export function holdBack(socket: Writable): void {
  if (!held) return;
  socket.cork();
  held.push(socket);
}
