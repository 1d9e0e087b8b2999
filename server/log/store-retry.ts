const FIRST_MS = 50;
const LONGEST_MS = 1000;

/** Schedules retries after a store could not be written. */
export class StoreRetry {
  readonly #again: () => void;
  #delayMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #waiters: (() => void)[] = [];
  /** The error of the last failed write. */
  error: unknown = null;

  constructor(again: () => void) {
    this.#again = again;
  }

  /** Whether writes wait for the store, also while a try is in progress. */
  get waiting(): boolean {
    return this.#delayMs > 0;
  }

  /** Whether the next try is not due yet. */
  get pausing(): boolean {
    return this.#timer !== null;
  }

  failed(error: unknown): void {
    this.error = error;
    this.#delayMs = Math.min(LONGEST_MS, this.#delayMs * 2 || FIRST_MS);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#again();
    }, this.#delayMs);
  }

  /** Call it once the store was written, or no write is needed any more. */
  succeeded(): void {
    this.#delayMs = 0;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  /** Resolves when no write waits. */
  over(): Promise<void> {
    return this.waiting ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve();
  }
}
