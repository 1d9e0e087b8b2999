import type { Writable } from 'node:stream';
import { holdBack } from '../async/burst.js';

/** Node writes texts up to this size without a buffer of their own; longer texts are better converted to bytes at once. */
const SMALL = 16 * 1024;

/**
 * A small ASCII text for sockets. The first socket receives it as text, which needs no buffer, because most sessions have one reader. All
 * others share one buffer.
 */
export class SharedText {
  readonly #text: string;
  #isWritten = false;
  #bytes: Buffer | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get byteLength(): number {
    return this.#text.length;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.#text, 'latin1');
    return this.#bytes;
  }

  /** Writes it; false when the receiver does not keep up. */
  writeTo(socket: Writable): boolean {
    if (this.#isWritten) return socket.write(this.bytes);
    this.#isWritten = true;
    return socket.write(this.#text, 'latin1');
  }
}

/** A payload for sockets. */
export type SocketPayload = SharedText | Buffer;

/** The payload of a text. @param size Size of the text in UTF-8, in bytes */
export function socketPayload(text: string, size = Buffer.byteLength(text)): SocketPayload {
  return isShareable(text, size) ? new SharedText(text) : Buffer.from(text);
}

/** Whether a text is ASCII and small. @param size Size of the text in UTF-8, in bytes */
export function isShareable(text: string, size: number): boolean {
  return size === text.length && size <= SMALL;
}

/** Writes a payload. False when the receiver does not keep up. */
export function writeTo(socket: Writable, payload: SocketPayload | string): boolean {
  holdBack(socket);
  return payload instanceof SharedText ? payload.writeTo(socket) : socket.write(payload);
}
