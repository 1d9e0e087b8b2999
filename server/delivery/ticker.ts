/** Something open that has to be looked at from time to time. */
export interface Ticking {
  /** Does what is due. @param now Monotonic milliseconds */
  tick(now: number): void;
}

/** The one timer of everything that is open. What fails in it is reported and costs the others nothing. */
export class Ticker {
  readonly #everyMs: number;
  readonly #report: (error: unknown, what: string) => void;
  readonly #items = new Set<Ticking>();
  #timer: NodeJS.Timeout | undefined;

  /** @param limits Times that have to be kept, in milliseconds; the timer is as fine as the shortest needs, and no finer than 5 ms. */
  constructor(
    limits: { readonly heartbeatMs: number; readonly slowClientMs: number },
    report: (error: unknown, what: string) => void,
  ) {
    this.#everyMs = Math.min(1000, Math.max(5, Math.min(limits.heartbeatMs, limits.slowClientMs) / 2));
    this.#report = report;
  }

  add(item: Ticking): void {
    this.#items.add(item);
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs).unref();
  }

  delete(item: Ticking): void {
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
