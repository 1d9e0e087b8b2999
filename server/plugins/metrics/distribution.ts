import type { Metric, Registry } from 'prom-client';

/**
 * A histogram without labels that costs next to nothing to note a value in: it is put into words only when somebody asks for it. For what
 * happens with every event; the histograms of prom-client look their labels up each time.
 */
export class Distribution {
  readonly #bounds: readonly number[];
  /** How many values each bucket has by itself; the last is for those above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  /** @param buckets Their upper bounds, ascending */
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
