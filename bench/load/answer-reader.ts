/** Finds the ends of HTTP/1.1 answers in what one connection reads, without looking into bodies. */
export class AnswerReader {
  #head = '';
  #inBody = false;
  #chunked = false;
  #left = 0;
  #tail = '';
  /** Status of the answer that is being read, or was. */
  status = 0;

  /** Takes bytes from `from` on; returns where the answer ends, or -1 while it goes on. */
  read(bytes: Buffer, from: number, to: number): number {
    const start = this.#inBody ? from : this.#readHead(bytes, from, to);
    if (start < 0) return -1;
    if (this.#chunked) {
      this.#tail = (this.#tail + bytes.toString('latin1', Math.max(start, to - 5), to)).slice(-5);
      if (this.#tail !== '0\r\n\r\n') return -1;
    } else {
      const taken = Math.min(this.#left, to - start);
      this.#left -= taken;
      if (this.#left > 0) return -1;
      this.#reset();
      return start + taken;
    }
    this.#reset();
    return to;
  }

  /** Where the body begins, or -1. */
  #readHead(bytes: Buffer, from: number, to: number): number {
    const before = this.#head.length;
    this.#head += bytes.toString('latin1', from, to);
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return -1;
    const head = this.#head.slice(0, end).toLowerCase();
    this.#head = '';
    this.#inBody = true;
    this.status = Number(head.slice(9, 12));
    this.#chunked = head.includes('\r\ntransfer-encoding: chunked');
    this.#left = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0);
    return from + end + 4 - before;
  }

  #reset(): void {
    this.#inBody = false;
    this.#tail = '';
  }
}
