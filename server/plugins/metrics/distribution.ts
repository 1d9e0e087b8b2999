import type { Metric, Registry } from 'prom-client';

/**
 * A histogram without labels, for values that come with every event. Adding a value costs next to nothing; text is made only for a request.
 * The histograms of prom-client look their labels up each time.
 */
export class Distribution {
  readonly #bounds: readonly number[];
  /** The number of values in each bucket alone; the last counts those above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  /** @param buckets The upper bounds of the buckets, ascending */
  constructor(
    registry: Registry,
    {
      name,
      help,
      buckets,
    }: { readonly name: string; readonly help: string; readonly buckets: readonly number[] },
  ) {
    this.#bounds = buckets;
    this.#counts = [...buckets, 0].fill(0);
    const told = {
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      get: () => ({ ...told, values: this.#values(name) }),
    };
    registry.registerMetric(told as unknown as Metric);
  }

  add(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sum += value;
  }

  #values(name: string): object[] {
    let upTo = 0;
    const buckets = this.#counts.map((count, bucket) => {
      upTo += count;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[bucket] ?? '+Inf' }, value: upTo };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, value: upTo },
    ];
  }
}
