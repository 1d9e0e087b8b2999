import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { News } from '../store.js';

/** Of what both ends say: another one is another program. */
export const VERSION = 1;

/** What a process says first. */
export interface Hello {
  readonly version: number;
  readonly pid: number;
}

/** What is answered to that. */
export interface Welcome {
  /** Names the process that keeps the store: another one after it was started again. */
  readonly server: string;
  readonly durability: 'memory' | 'process' | 'disk';
  readonly leaseMs: number;
}

/** Why a call failed. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** What a process asks. */
export type Asked = readonly [id: number, name: string, args: readonly unknown[]];

/** What it is told: what came of a call, and what happened. */
export type Told =
  | readonly ['done', id: number, value: unknown]
  | readonly ['failed', id: number, failure: Failure]
  | readonly ['wake', key: string, news: News | undefined]
  | readonly ['mail', holder: string, message: string];

const HEAD_BYTES = 4;

/** A message as it goes over the line: its length, and itself as V8 writes it, so that nothing of a value is lost. */
export function encodeFrame(message: unknown): Buffer {
  const body = serialize(message);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + body.length);
  frame.writeUInt32BE(body.length);
  body.copy(frame, HEAD_BYTES);
  return frame;
}

/** Puts together what comes in pieces. */
export class FrameDecoder {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #wanted = HEAD_BYTES;

  /** The messages that are whole with this piece. */
  *feed(piece: Buffer): Generator<unknown> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    // A long message is put together once, when all of it is there.
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

/** Writes what one turn of the event loop says as one. */
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
