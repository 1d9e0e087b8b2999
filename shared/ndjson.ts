import { GatewayError } from './errors.js';

const NEWLINE = 10;

/** Writes one value as a line. */
export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * Splits a byte stream into lines. Characters may be cut anywhere; a line is decoded only when it is whole, and its bytes are
 * counted before its newline arrives.
 */
export class LineDecoder {
  readonly #maxBytes: number;
  readonly #text = new TextDecoder('utf-8', { fatal: true });
  #parts: Uint8Array[] = [];
  #length = 0;

  /** @param maxBytes Longest line, in bytes without its newline. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes the next bytes and yields the lines they complete, without newline; empty lines are passed over.
   *
   * @throws GatewayError `PAYLOAD_TOO_LARGE` for a line over the bound, `INVALID_REQUEST` for bytes that are not UTF-8.
   */
  *feed(chunk: Uint8Array): Generator<string> {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      this.#length += part.length;
      if (this.#length > this.#maxBytes) {
        throw new GatewayError({
          code: 'PAYLOAD_TOO_LARGE',
          message: `A line is limited to ${this.#maxBytes} bytes`,
        });
      }
      this.#parts.push(part);
      if (end < 0) return;
      start = end + 1;
      const line = this.#take();
      if (line !== '') yield line;
    }
  }

  #take(): string {
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    try {
      const text = this.#text.decode(bytes);
      return text.endsWith('\r') ? text.slice(0, -1) : text;
    } catch (cause) {
      throw new GatewayError({ code: 'INVALID_REQUEST', message: 'A line is not UTF-8', cause });
    }
  }
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
