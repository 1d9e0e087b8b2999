/** Time after a refused write for which a store counts as not writable, unless it takes a write; in milliseconds. */
const REFUSED_MS = 10_000;

/**
 * Whether the store takes writes, for all logs together. A store that can be reached and read may be out of space. One log alone says nothing:
 * the store may refuse what it has to write.
 */
export class Written {
  /** Time of the last write that the store took, by the monotonic clock. */
  tookAt = Number.NEGATIVE_INFINITY;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The log that was refused first since the store took one. */
  #first: object | null = null;
  #areSeveral = false;

  took(): void {
    this.tookAt = performance.now();
    this.#first = null;
    this.#areSeveral = false;
  }

  /** @param log Whose write was refused: the same object for the same log */
  refused(log: object): void {
    const now = performance.now();
    if (now - this.#refusedAt >= REFUSED_MS) {
      this.#first = null;
      this.#areSeveral = false;
    }
    this.#refusedAt = now;
    this.#first ??= log;
    if (this.#first !== log) this.#areSeveral = true;
  }

  get isRefused(): boolean {
    return this.#areSeveral && performance.now() - this.#refusedAt < REFUSED_MS;
  }
}
