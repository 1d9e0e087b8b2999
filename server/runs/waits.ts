import { MAX_DELAY_MS } from '../async/deadline.js';

/** Longest time between two looks at the clock during a sleep, in milliseconds. */
const LONGEST_MS = 60_000;

export interface WaitsOptions {
  /** Time of pure waiting after which `parked` is called, in milliseconds. */
  readonly parkMs: number;
  /** Whether other work is under way, which parking would lose. */
  readonly busy: () => boolean;
  /** Called when the run only waits, at least until a time. @param waits Whether that is still so */
  readonly parked: (until: number, waits: () => boolean) => void;
}

/** The waits of a run for times and for people. */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #until = new Set<{ readonly at: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** Adds a wait until a time of the store's clock, in milliseconds since the epoch, or for a person with `Infinity`. Call the returned function at its end. */
  add(at: number): () => void {
    const wait = { at };
    this.#until.add(wait);
    this.#arm();
    return () => {
      this.#until.delete(wait);
      if (this.#until.size === 0) clearTimeout(this.#timer);
    };
  }

  /** Called when the run does something while it waits. */
  used(): void {
    if (this.#until.size > 0) this.#arm();
  }

  stop(): void {
    this.#until.clear();
    clearTimeout(this.#timer);
  }

  #arm(): void {
    const { parkMs, busy, parked } = this.#options;
    clearTimeout(this.#timer);
    if (parkMs > MAX_DELAY_MS) return;
    this.#timer = setTimeout(() => {
      this.#arm();
      const waits = (): boolean => !busy() && this.#until.size > 0;
      if (waits()) parked(Math.min(...[...this.#until].map(({ at }) => at)), waits);
    }, parkMs).unref();
  }
}

/** Resolves at a time of a clock, in milliseconds since the epoch; rejects once the signal is aborted. */
export async function sleepUntil(at: number, now: () => number, signal: AbortSignal): Promise<void> {
  for (let left = at - now(); left > 0; left = at - now()) {
    await new Promise<void>((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      // The clock may change meanwhile, so it is read again.
      const timer = setTimeout(
        () => {
          signal.removeEventListener('abort', over);
          resolve();
        },
        Math.min(left, LONGEST_MS),
      );
      if (signal.aborted) over();
      else signal.addEventListener('abort', over, { once: true });
    });
  }
}
