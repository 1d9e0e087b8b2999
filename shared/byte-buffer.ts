/** Bytes that arrive in pieces, kept in one buffer. A list of pieces of one byte each would cost a hundred times as much. */
export class ByteBuffer {
  #bytes = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds a copy of some bytes. */
  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }

  /** Returns the added bytes, and begins anew. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return bytes;
  }
}
