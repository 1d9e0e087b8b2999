import { ByteBuffer } from './byte-buffer.js';
import { GatewayError } from './errors.js';

const NEWLINE = 10;

/** Writes one value as a line. */
export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * Splits a byte stream into lines. Characters may be cut anywhere; a line is decoded once it is whole, and its bytes are counted before its newline
 * arrives. Memory stays near the size of the received bytes, however small the pieces were.
 */
export class LineDecoder {
  /** Longest line, in bytes without its newline. */
  maxBytes: number;
  readonly #text = new TextDecoder('utf-8', { fatal: true });
  readonly #line = new ByteBuffer();

  /** @param maxBytes Longest line, in bytes without its newline. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes the next bytes and yields the lines that they complete, without newlines and empty lines.
   *
   * @throws GatewayError `PAYLOAD_TOO_LARGE` for a line over the bound, `INVALID_REQUEST` for bytes that are not UTF-8.
   */
  *feed(chunk: Uint8Array): Generator<string> {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (this.#line.length + part.length > this.maxBytes) {
        throw new GatewayError({
          code: 'PAYLOAD_TOO_LARGE',
          message: `A line is limited to ${this.maxBytes} bytes`,
        });
      }
      if (end < 0) return this.#line.add(part);
      start = end + 1;
      const line = this.#decode(part);
      if (line !== '') yield line;
    }
  }

  #decode(last: Uint8Array): string {
    let bytes = last;
    if (this.#line.length > 0) {
      this.#line.add(last);
      bytes = this.#line.take();
    }
    try {
      const text = this.#text.decode(bytes);
      return text.endsWith('\r') ? text.slice(0, text.lastIndexOf('\r')) : text;
    } catch (cause) {
      throw new GatewayError({ code: 'INVALID_REQUEST', message: 'A line is not UTF-8', cause });
    }
  }
}
