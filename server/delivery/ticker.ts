/** An open object that needs periodic work. */
export interface TickerItem {
  /** Does periodic work. @param now Monotonic milliseconds */
  tick(now: number): void;
}

/** The one timer of all open objects. An error in one is reported and does not affect the others. */
export class Ticker {
  readonly #everyMs: number;
  readonly #report: (error: unknown, what: string) => void;
  readonly #items = new Set<TickerItem>();
  #timer: NodeJS.Timeout | undefined;

  /** @param limits Time limits to keep, in milliseconds. The interval suits the shortest, but is at least 5 ms. */
  constructor(
    limits: { readonly heartbeatMs: number; readonly slowClientMs: number },
    report: (error: unknown, what: string) => void,
  ) {
    this.#everyMs = Math.min(1000, Math.max(5, Math.min(limits.heartbeatMs, limits.slowClientMs) / 2));
    this.#report = report;
  }

  add(item: TickerItem): void {
    this.#items.add(item);
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs).unref();
  }

  delete(item: TickerItem): void {
    this.#items.delete(item);
    if (this.#items.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const now = performance.now();
    for (const item of [...this.#items]) {
      try {
        item.tick(now);
      } catch (error) {
        this.#report(error, 'what is due on a connection failed');
      }
    }
  }
}
