/** Functions to call after a change. What one throws is reported and keeps nobody else from being called. */
export class Listeners<Args extends unknown[] = []> {
  readonly #all = new Map<object, (...args: Args) => void>();

  get size(): number {
    return this.#all.size;
  }

  /** Returns what removes the listener. A function that is given twice is called twice. */
  readonly subscribe = (listener: (...args: Args) => void): (() => void) => {
    const key = {};
    this.#all.set(key, listener);
    return () => {
      this.#all.delete(key);
    };
  };

  emit(...args: Args): void {
    for (const [key, listener] of [...this.#all]) {
      // Whoever was removed by a listener before it is not called any more.
      if (this.#all.has(key)) attempt(() => listener(...args));
    }
  }
}

/** Runs a function of the user's. What it throws becomes an uncaught error of the page, as if an event listener had thrown it. */
export function attempt(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (typeof globalThis.reportError === 'function') globalThis.reportError(error);
    else
      queueMicrotask(() => {
        throw error;
      });
  }
}
