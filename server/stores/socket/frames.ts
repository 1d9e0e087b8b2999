import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { News } from '../append.js';

/** Version of the frames. Both ends need the same. */
export const VERSION = 1;

/** The first message of a process. */
export interface Hello {
  readonly version: number;
  readonly pid: number;
}

/** The answer to `Hello`. */
export interface Welcome {
  /** Name of the process that keeps the store. It changes with each start. */
  readonly server: string;
  readonly durability: 'memory' | 'process' | 'disk';
  readonly leaseMs: number;
}

/** Why a call failed. */
export interface FailureFrame {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
  readonly isFull?: boolean;
}

/** A call of a process. */
export type AskedFrame = readonly [id: number, name: string, args: readonly unknown[]];

/** A message to a process: the outcome of a call, or news. */
export type Told =
  | readonly ['done', id: number, value: unknown]
  | readonly ['failed', id: number, failure: FailureFrame]
  | readonly ['wake', key: string, news: News | undefined]
  | readonly ['mail', holder: string, message: string];

const HEAD_BYTES = 4;

/** Encodes a message as its length and its value in V8's format, which loses no part of a value. */
export function encodeFrame(message: unknown): Buffer {
  const body = serialize(message);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + body.length);
  frame.writeUInt32BE(body.length);
  body.copy(frame, HEAD_BYTES);
  return frame;
}

/** Joins the pieces of frames. */
export class FrameDecoder {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #wanted = HEAD_BYTES;

  /** The messages that this piece completes. */
  *feed(piece: Buffer): Generator<unknown> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    // Join a long message once, after its last piece.
    if (this.#bytes < this.#wanted) return;
    const all = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    let at = 0;
    this.#wanted = HEAD_BYTES;
    while (all.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + all.readUInt32BE(at);
      this.#wanted = end - at;
      if (end > all.length) break;
      yield deserialize(all.subarray(at + HEAD_BYTES, end));
      at = end;
      this.#wanted = HEAD_BYTES;
    }
    this.#pieces = at === all.length ? [] : [all.subarray(at)];
    this.#bytes = all.length - at;
  }
}

/** Writes all frames of one event-loop turn at once. */
export class FrameWriter {
  readonly #socket: Socket;
  #isCorked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(frame: Buffer): void {
    if (!this.#socket.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      setImmediate(this.#flush);
    }
    this.#socket.write(frame);
  }

  readonly #flush = (): void => {
    this.#isCorked = false;
    this.#socket.uncork();
  };
}
