/** Weight of the latest duration in the mean. */
const WEIGHT = 0.1;
const LONGEST_MS = 300_000;

/**
 * Bounds the concurrent deliveries to one target. Nothing waits here: `later` estimates from recent durations and earlier refusals when a lane is
 * free for a refused delivery.
 */
export class DeliveryLanes {
  readonly #most: number;
  #busy = 0;
  #meanMs = 1000;
  /** The time when the last refused delivery is to come again, in monotonic milliseconds. */
  #lastAt = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get busy(): number {
    return this.#busy;
  }

  /** Takes a lane and returns a function that frees it; null if no lane is free. */
  enter(): (() => void) | null {
    if (this.#busy >= this.#most) return null;
    this.#busy += 1;
    const begun = performance.now();
    return () => {
      this.#busy -= 1;
      this.#meanMs += WEIGHT * (performance.now() - begun - this.#meanMs);
    };
  }

  /** Milliseconds until a refused delivery is to come again. */
  later(): number {
    const now = performance.now();
    const first = now + Math.max(100, this.#meanMs);
    this.#lastAt = Math.min(Math.max(this.#lastAt, first) + this.#meanMs / this.#most, now + LONGEST_MS);
    return this.#lastAt - now;
  }
}
