/** How long a store that refused a write, and took none since, passes for one that cannot be written, in milliseconds. */
const REFUSED_MS = 10_000;

/** What the store says to all who write logs in it: one that can be reached and read may have no room left. */
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
