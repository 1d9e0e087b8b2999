import { MAX_DELAY_MS } from '../async/deadline.js';

/** A sleep looks at the clock so often at least, in milliseconds. */
const LONGEST_MS = 60_000;

export interface WaitsOptions {
  /** How long a run only waits before that is said; milliseconds. */
  readonly parkMs: number;
  /** Whether something else is under way, which would be lost. */
  readonly busy: () => boolean;
  /** The run only waits, until then at least. */
  readonly parked: (until: number) => void;
}

/** What a run waits for: its time, or people. */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #until = new Set<{ readonly at: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** It waits until then, in milliseconds since the epoch; `Infinity`: for somebody. Returns what ends that. */
  add(at: number): () => void {
    const wait = { at };
    this.#until.add(wait);
    this.#arm();
    return () => {
      this.#until.delete(wait);
      if (this.#until.size === 0) clearTimeout(this.#timer);
    };
  }

  /** It does something besides. */
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
      if (!busy()) parked(Math.min(...[...this.#until].map(({ at }) => at)));
    }, parkMs).unref();
  }
}

/** Resolves at a time, in milliseconds since the epoch; rejects once the signal is aborted. */
export async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
  for (let left = at - Date.now(); left > 0; left = at - Date.now()) {
    await new Promise<void>((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      // The clock may be set meanwhile: it is looked at again.
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
