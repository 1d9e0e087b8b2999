const FIRST_MS = 50;
const LONGEST_MS = 1000;

/** When to try a store again that could not be written. */
export class StoreRetry {
  readonly #again: () => void;
  #delayMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #waiters: (() => void)[] = [];
  /** Why it could not be written the last time. */
  error: unknown = null;

  constructor(again: () => void) {
    this.#again = again;
  }

  /** Whether something waits for the store, now or while it is tried again. */
  get waiting(): boolean {
    return this.#delayMs > 0;
  }

  /** Whether it is not to be tried yet. */
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

  /** It was written, or need not be any more. */
  succeeded(): void {
    this.#delayMs = 0;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  /** Resolves when nothing waits. */
  over(): Promise<void> {
    return this.waiting ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve();
  }
}
