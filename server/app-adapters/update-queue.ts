import type { AppEvent } from '../apps/application.js';

/** Items that may wait before the agent has to. */
const MOST = 64;

/** The items of an agent, on their way to the log. */
export class UpdateQueue {
  readonly #items: (string | AppEvent)[] = [];
  readonly #drained: (() => void)[] = [];
  #isIdle = false;
  #isEnded = false;
  #wake = () => {};

  put(item: string | AppEvent): void {
    if (this.#isEnded) return;
    this.#items.push(item);
    this.#isIdle = false;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Resolves once all that was put is in the log, or nobody takes it any more. */
  async drained(): Promise<void> {
    if (!this.#isEnded && !this.#isIdle) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  async room(): Promise<void> {
    if (this.#items.length >= MOST) await this.drained();
  }

  /** The items, until the end. An item is in the log when the next one is asked for. */
  async *items(): AsyncGenerator<string | AppEvent, void> {
    try {
      for (;;) {
        for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) yield item;
        this.#isIdle = true;
        this.#settle();
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#isEnded = true;
      this.#settle();
    }
  }

  #settle(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
