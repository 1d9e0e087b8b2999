import { connect } from 'node:net';
import { LineDecoder } from '../../shared/ndjson.js';
import type { FrameWireHandlers, TextWire } from '../transport/frame-socket.js';
import { frameTransport } from '../transport/frames.js';
import type { Supplied } from '../transport/http-options.js';
import type { ClientTransport } from '../transport/transport.js';

/** Longest line that is taken from a gateway: a snapshot of 50 messages, each with files in it. */
const LINE_BYTES = 256 * 1024 * 1024;

/** How to reach a gateway over a Unix socket. */
export interface UnixSocketOptions {
  /** The gateway's `socketPath`. */
  readonly socketPath: string;
  readonly token?: Supplied<string | null | undefined> | undefined;
}

/**
 * Frames as lines of JSON over a Unix socket, for `createClient({ transport })`. An idle socket keeps no process alive.
 *
 * @example
 * ```ts
 * const client = createClient({ transport: createUnixSocketClientTransport({ socketPath: '/run/gateway.sock' }) });
 * ```
 */
export function createUnixSocketClientTransport({ socketPath, token }: UnixSocketOptions): ClientTransport {
  return frameTransport({
    name: 'unix-socket',
    address: socketPath,
    token,
    open: (handlers) => openSocket(socketPath, handlers),
  });
}

function openSocket(path: string, handlers: FrameWireHandlers): TextWire {
  const lines = new LineDecoder(LINE_BYTES);
  const socket = connect(path);
  socket.on('connect', () => handlers.onOpen());
  socket.on('data', (chunk) => {
    handlers.onProgress?.();
    try {
      for (const line of lines.feed(chunk)) handlers.onText(line);
    } catch (error) {
      // No gateway writes such a line.
      socket.destroy(error as Error);
    }
  });
  let cause: unknown;
  // The close follows.
  socket.on('error', (error) => {
    cause = error;
  });
  socket.on('close', () => handlers.onClose(cause));
  return {
    send: (text) => {
      if (socket.writable) socket.write(`${text}\n`);
    },
    close: () => socket.destroy(),
    hold: (busy) => (busy ? socket.ref() : socket.unref()),
  };
}
