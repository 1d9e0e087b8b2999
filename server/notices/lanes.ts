/** How much of how long the last ones took is believed. */
const WEIGHT = 0.1;
const LONGEST_MS = 300_000;

/**
 * What one target is told at a time. Nothing waits here: what finds no place is to come again when there will be one, by how long the last
 * ones took, and by how many are to come before it.
 */
export class Lanes {
  readonly #most: number;
  #busy = 0;
  #meanMs = 1000;
  /** When the last one that found no place is to come again; monotonic milliseconds. */
  #lastAt = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get busy(): number {
    return this.#busy;
  }

  /** Takes a place, which what it returns gives back; null where there is none. */
  enter(): (() => void) | null {
    if (this.#busy >= this.#most) return null;
    this.#busy += 1;
    const begun = performance.now();
    return () => {
      this.#busy -= 1;
      this.#meanMs += WEIGHT * (performance.now() - begun - this.#meanMs);
    };
  }

  /** In how many milliseconds one that found no place is to come again. */
  later(): number {
    const now = performance.now();
    const first = now + Math.max(100, this.#meanMs);
    this.#lastAt = Math.min(Math.max(this.#lastAt, first) + this.#meanMs / this.#most, now + LONGEST_MS);
    return this.#lastAt - now;
  }
}
