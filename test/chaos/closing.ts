/** What a cluster of a chaos test has opened: many tests use it, so it is not closed after each. */
export class Closing {
  readonly #open: (() => unknown)[] = [];

  add<T>(resource: T, close: (resource: T) => unknown): T {
    this.#open.push(() => close(resource));
    return resource;
  }

  /** Closes all of it, last opened first. */
  async close(): Promise<void> {
    for (const close of this.#open.splice(0).reverse()) await close();
  }
}
