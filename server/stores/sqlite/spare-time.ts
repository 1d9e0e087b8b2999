/** Share of the event loop that work takes which nobody waits for. The time that it has in threads comes on top, and is about as much. */
const SHARE = 0.01;
/** The share of work that has gone on for `HURRY_MS`: more comes than the first share can do. */
const HURRIED_SHARE = 0.05;
const HURRY_MS = 60_000;

/** The time that work goes by. */
interface SpareClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

const MACHINE: SpareClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
};

/** Paces work in the background: after each stretch it rests for a multiple of the time that the stretch held the event loop. */
export class SpareTime {
  readonly #clock: SpareClock;
  readonly #begunAt: number;
  #spentMs = 0;

  /** @param clock The time. @default the machine's */
  constructor(clock: SpareClock = MACHINE) {
    this.#clock = clock;
    this.#begunAt = clock.now();
  }

  /** Does a stretch of the work, and counts its time. */
  spend<T>(work: () => T): T {
    const from = this.#clock.now();
    try {
      return work();
    } finally {
      this.#spentMs += this.#clock.now() - from;
    }
  }

  /** Leaves the event loop to others, for as long as the time spent since the last rest demands. */
  async rest(): Promise<void> {
    const hurries = this.#clock.now() - this.#begunAt >= HURRY_MS;
    const share = hurries ? HURRIED_SHARE : SHARE;
    const ms = this.#spentMs * (1 / share - 1);
    this.#spentMs = 0;
    await this.#clock.sleep(ms);
  }
}
