/** Functions to call after a change. An error of one is reported, and the others are still called. */
export interface Listeners<Args extends unknown[]> {
  /** Returns a function that removes the listener. A function that is added twice is called twice. */
  readonly subscribe: (listener: (...args: Args) => void) => () => void;
  readonly emit: (...args: Args) => void;
  readonly isEmpty: () => boolean;
}

export function createListeners<Args extends unknown[] = []>(): Listeners<Args> {
  const all = new Set<(...args: Args) => void>();
  return {
    subscribe: (listener) => {
      const own = (...args: Args) => listener(...args);
      all.add(own);
      return () => {
        all.delete(own);
      };
    },
    emit: (...args) => {
      // A listener that an earlier one removed is not called any more.
      for (const listener of [...all]) if (all.has(listener)) attempt(() => listener(...args));
    },
    isEmpty: () => all.size === 0,
  };
}

/** Runs a function of the user's. An error becomes an uncaught error of the page, as if an event listener had thrown it. */
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
