import type { Registry } from 'prom-client';
import type { MeasureSink } from '../measures.js';
import { Distribution } from './distribution.js';

/** Measures in a registry of prom-client. */
export function registrySink(
  { Counter, Histogram }: Pick<typeof import('prom-client'), 'Counter' | 'Histogram'>,
  registry: Registry,
): MeasureSink {
  const registers = [registry];
  return {
    counter({ name, help, labels: labelNames }) {
      const counter = new Counter({ name: `agent_gateway_${name}`, help, labelNames, registers });
      return (labels, by = 1) => counter.inc(labels, by);
    },
    distribution({ name: own, help, labels: labelNames, buckets }) {
      const name = `agent_gateway_${own}`;
      if (labelNames.length === 0) {
        const distribution = new Distribution(registry, { name, help, buckets });
        return (_, value) => distribution.add(value);
      }
      const histogram = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
      return (labels, value) => histogram.observe(labels, value);
    },
  };
}
