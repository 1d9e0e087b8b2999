/** A time-out that stands still while the run waits for a person. */
export class PausableTimer {
  readonly #expired: () => void;
  #remainingMs: number;
  #startedAt = 0;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param ms Time until `expired` is called, without pauses, in milliseconds. Never called if not finite or above 2^31 - 1. */
  constructor(ms: number, expired: () => void) {
    this.#remainingMs = ms;
    this.#expired = expired;
    this.#run();
  }

  pause(): void {
    if (this.#holds++ > 0) return;
    clearTimeout(this.#timer);
    this.#remainingMs -= performance.now() - this.#startedAt;
  }

  resume(): void {
    if (--this.#holds === 0) this.#run();
  }

  /** Begins the time anew. @param ms The same as in the constructor */
  restart(ms: number): void {
    this.#remainingMs = ms;
    if (this.#holds > 0) return;
    clearTimeout(this.#timer);
    this.#run();
  }

  stop(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#startedAt = performance.now();
    if (this.#remainingMs <= 0x7fffffff)
      this.#timer = setTimeout(this.#expired, Math.max(0, this.#remainingMs));
  }
}
