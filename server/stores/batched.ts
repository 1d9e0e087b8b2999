interface Item<In, Out> {
  readonly value: In;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

/** Gathers the calls of one event-loop turn, or those made while earlier batches are on their way, and does them together. */
export class Batched<In, Out> {
  readonly #work: (values: readonly In[]) => Promise<readonly (Out | Error)[]>;
  readonly #lanes: number;
  #items: Item<In, Out>[] = [];
  #running = 0;
  #scheduled = false;

  /**
   * @param work Returns a result for each value, in its place. An error there concerns that value alone.
   * @param lanes The number of batches that may be on their way at once.
   */
  constructor(work: (values: readonly In[]) => Promise<readonly (Out | Error)[]>, lanes = 1) {
    this.#work = work;
    this.#lanes = lanes;
  }

  do(value: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#items.push({ value, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#lanes || this.#items.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const items = this.#items;
    this.#items = [];
    this.#running += 1;
    try {
      const results = await this.#work(items.map(({ value }) => value));
      for (const [i, { resolve, reject }] of items.entries()) {
        const result = results[i]!;
        if (result instanceof Error) reject(result);
        else resolve(result as Out);
      }
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
    this.#running -= 1;
    this.#schedule();
  }
}
