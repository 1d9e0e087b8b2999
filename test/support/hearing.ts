import type { Gateway, LifecycleEvent, LifecycleEvents } from '../../server/index.js';

/** Hears what a gateway tells its listeners. */
export class Hearing<E extends LifecycleEvent> {
  readonly heard: LifecycleEvents[E][] = [];
  #waiters: (() => void)[] = [];

  constructor(gateway: Gateway<any, any, any>, event: E) {
    gateway.on(event, (payload) => {
      this.heard.push(payload);
      for (const waiter of this.#waiters.splice(0)) waiter();
    });
  }

  /** Waits for the n-th time. */
  async nth(n = 1): Promise<LifecycleEvents[E]> {
    while (this.heard.length < n) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    return this.heard[n - 1]!;
  }
}
