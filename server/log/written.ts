/** Time after a refused write for which a store counts as not writable, unless it takes a write; in milliseconds. */
const REFUSED_MS = 10_000;

/**
 * Whether the store takes writes, for all logs together. A store that can be reached and read may be out of space. One log alone says nothing:
 * the store may refuse what it has to write.
 */
export class Written {
  /** Time of the last write that the store took, by the monotonic clock. */
  tookAt = Number.NEGATIVE_INFINITY;
  readonly #recovered: (afterMs: number) => void;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The log that was refused first since the store took one, and when. */
  #first: { readonly log: object; readonly at: number } | null = null;
  #areSeveral = false;

  /** @param recovered Called when the store takes writes again, with the time for which it refused them */
  constructor(recovered: (afterMs: number) => void) {
    this.#recovered = recovered;
  }

  /** @param log The one that was written: the same object for the same log */
  took(log: object): void {
    this.tookAt = performance.now();
    const first = this.#first;
    if (!first) return;
    const wasAway = this.#areSeveral || first.log === log;
    this.#first = null;
    this.#areSeveral = false;
    if (wasAway) this.#recovered(this.tookAt - first.at);
  }

  /** @param log The one whose write was refused */
  refused(log: object): void {
    this.#refusedAt = performance.now();
    this.#first ??= { log, at: this.#refusedAt };
    if (this.#first.log !== log) this.#areSeveral = true;
  }

  get isRefused(): boolean {
    return this.#areSeveral && performance.now() - this.#refusedAt < REFUSED_MS;
  }
}
