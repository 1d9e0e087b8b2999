/** Tells a receiver that takes nothing from one that is slow: any byte it takes is progress. Begins when it does not keep up. */
export class Stall {
  readonly #receiver: { sent(): number };
  #seen: number;
  #since = performance.now();
  /** When it was last looked at. */
  #lookedAt = this.#since;

  /** @param receiver Says how many bytes it has taken so far. */
  constructor(receiver: { sent(): number }) {
    this.#receiver = receiver;
    this.#seen = receiver.sent();
  }

  /**
   * Whether it has taken nothing for longer than `limitMs`. To be asked twice in that time at least: what lies further apart is time in
   * which this process stood still, and nobody could take anything.
   *
   * @param now Monotonic milliseconds
   */
  isOver(now: number, limitMs: number): boolean {
    this.#since += Math.max(0, now - this.#lookedAt - limitMs / 2);
    this.#lookedAt = now;
    const sent = this.#receiver.sent();
    if (sent === this.#seen) return now - this.#since > limitMs;
    this.#seen = sent;
    this.#since = now;
    return false;
  }
}
