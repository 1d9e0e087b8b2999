/** Distinguishes a receiver that takes nothing from a slow one: any byte taken is progress. Made when the receiver starts to lag behind. */
export class Stall {
  readonly #receiver: { sent(): number };
  #seen: number;
  #since = performance.now();
  /** Time of the last look. */
  #lookedAt = this.#since;

  /** @param receiver Tells how many bytes it has taken so far. */
  constructor(receiver: { sent(): number }) {
    this.#receiver = receiver;
    this.#seen = receiver.sent();
  }

  /**
   * Whether the receiver has taken nothing for longer than `limitMs`. Ask at least twice in that time: a longer interval means that this
   * process stood still, and does not count.
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
