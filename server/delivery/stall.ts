/** Tells a receiver that takes nothing from one that is slow: any byte it takes is progress. */
export class Stall {
  readonly #sent: () => number;
  #seen = 0;
  #since: number | null = null;
  /** When it was last looked at. */
  #lookedAt = 0;

  /** @param sent Bytes that the receiver has taken so far. */
  constructor(sent: () => number) {
    this.#sent = sent;
  }

  /** Whether it does not keep up. */
  get blocked(): boolean {
    return this.#since !== null;
  }

  /** It does not keep up from now on. */
  begin(): void {
    if (this.#since !== null) return;
    this.#since = performance.now();
    this.#lookedAt = this.#since;
    this.#seen = this.#sent();
  }

  /** It has caught up. */
  end(): void {
    this.#since = null;
  }

  /**
   * Whether it has taken nothing for longer than `limitMs`. To be asked twice in that time at least: what lies further apart is time in
   * which this process stood still, and nobody could take anything.
   *
   * @param now Monotonic milliseconds
   */
  isOver(now: number, limitMs: number): boolean {
    if (this.#since === null) return false;
    this.#since += Math.max(0, now - this.#lookedAt - limitMs / 2);
    this.#lookedAt = now;
    const sent = this.#sent();
    if (sent === this.#seen) return now - this.#since > limitMs;
    this.#seen = sent;
    this.#since = now;
    return false;
  }
}
