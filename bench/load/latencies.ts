export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** Times in microseconds, of which the first million is kept. */
export class Latencies {
  readonly #kept = new Float64Array(1_000_000);
  #count = 0;

  add(micros: number): void {
    if (this.#count < this.#kept.length) this.#kept[this.#count++] = micros;
  }

  clear(): void {
    this.#count = 0;
  }

  get percentiles(): Percentiles {
    const sorted = this.#kept.subarray(0, this.#count).toSorted();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
  }
}
