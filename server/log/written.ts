/** Time after a refused write for which a store counts as not writable, unless it takes a write; in milliseconds. */
const REFUSED_MS = 10_000;

/** Whether the store takes writes, for all logs together. A store that can be reached and read may be out of space. */
export class Written {
  #refusedAt = Number.NEGATIVE_INFINITY;

  took(): void {
    this.#refusedAt = Number.NEGATIVE_INFINITY;
  }

  refused(): void {
    this.#refusedAt = performance.now();
  }

  get isRefused(): boolean {
    return performance.now() - this.#refusedAt < REFUSED_MS;
  }
}
