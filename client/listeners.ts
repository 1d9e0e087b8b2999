/** Functions to call after a change. */
export class Listeners<Args extends unknown[] = []> {
  readonly #all = new Set<(...args: Args) => void>();

  /** Returns what removes the listener. */
  readonly subscribe = (listener: (...args: Args) => void): (() => void) => {
    this.#all.add(listener);
    return () => {
      this.#all.delete(listener);
    };
  };

  emit(...args: Args): void {
    for (const listener of [...this.#all]) listener(...args);
  }
}
