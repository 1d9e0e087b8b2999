import type { Registry } from 'prom-client';
import type { GatewayStats } from '../../diagnostics/gateway-stats.js';
import { GROWING, HIGHEST, NOW, type StatsRow, samplesOf } from '../stats-rows.js';

/** Adds a gateway's statistics to a registry. */
export function addStats(
  { Counter, Gauge }: Pick<typeof import('prom-client'), 'Counter' | 'Gauge'>,
  registry: Registry,
  stats: () => GatewayStats,
): void {
  // All values of one page come from one call of `stats`, since counting is not free.
  let current: GatewayStats | null = null;
  const now = (): GatewayStats => {
    if (!current) {
      current = stats();
      setImmediate(() => {
        current = null;
      });
    }
    return current;
  };
  const shapeOf = ([name, help, , labelNames = []]: StatsRow) => ({
    ...{ name: `agent_gateway_${name}`, help, labelNames, registers: [registry] },
    aggregator: HIGHEST.has(name) ? ('max' as const) : ('sum' as const),
  });
  for (const row of GROWING)
    new Counter({
      ...shapeOf(row),
      collect() {
        this.reset();
        for (const [given, value] of samplesOf(row[2], now())) this.inc(given, value);
      },
    });
  for (const row of NOW)
    new Gauge({
      ...shapeOf(row),
      collect() {
        this.reset();
        for (const [given, value] of samplesOf(row[2], now())) this.set(given, value);
      },
    });
}
