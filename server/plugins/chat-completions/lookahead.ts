/** Reads an iterator by one step at a time, with the choice not to wait. */
export class Lookahead<T> {
  readonly #items: AsyncIterator<T>;
  #ahead: Promise<IteratorResult<T>> | null = null;

  constructor(items: AsyncIterator<T>) {
    this.#items = items;
  }

  #peek(): Promise<IteratorResult<T>> {
    if (!this.#ahead) {
      this.#ahead = this.#items.next();
      // It may be left behind; whoever waits for it sees the rejection all the same.
      this.#ahead.catch(() => {});
    }
    return this.#ahead;
  }

  next(): Promise<IteratorResult<T>> {
    const ahead = this.#ahead ?? this.#items.next();
    this.#ahead = null;
    return ahead;
  }

  /** The next item if it comes before the event loop has turned; null otherwise. */
  async inThisTurn(): Promise<IteratorResult<T> | null> {
    const result = await Promise.race([this.#peek(), turned()]);
    if (result) this.#ahead = null;
    return result;
  }

  /** Reads no further; an item that is still waited for has to be ended by who makes it. */
  leave(): void {
    this.#items.return?.().catch(() => {});
  }
}

/** Two rounds: what is said in one turn may reach its readers in the next. */
function turned(): Promise<null> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(() => resolve(null)));
  });
}
