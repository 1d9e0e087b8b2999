/** Calls a function with each of many values in order, with a limited number at a time. Ends with the first failure. */
export async function atOnce<Value>(
  values: Iterable<Value>,
  lanes: number,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const left = values[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Limits how many pieces of work run at a time, for all callers together. Others wait in order. */
export class ConcurrencyLimit {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
