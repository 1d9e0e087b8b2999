import type * as Package from '../../server/index.js';
import type * as Metrics from '../../server/plugins/metrics/index.js';
import type * as Telemetry from '../../server/telemetry/index.js';

/** Modules of this package by which a gateway is observed. */
export interface ObserverModules {
  metrics(): Promise<typeof Metrics>;
  telemetry(): Promise<typeof Telemetry>;
}

/** How a gateway is observed. */
export interface Observed {
  readonly plugins: readonly Package.GatewayPlugin[];
  readonly logger?: Package.Logger;
}

/**
 * What the variants `metrics` and `all` add: metrics for Prometheus; and spans and metrics of OpenTelemetry, with its SDK, whose exporters
 * throw away what they are given, and a log at level debug, to where nobody reads it.
 */
export async function observed(variant: string, modules: ObserverModules): Promise<Observed> {
  if (variant !== 'metrics' && variant !== 'all') return { plugins: [] };
  const { metricsPlugin } = await modules.metrics();
  const metrics = metricsPlugin({ addresses: ['127.0.0.1'] });
  if (variant === 'metrics') return { plugins: [metrics] };
  const { telemetryPlugin } = await modules.telemetry();
  const { default: pino } = await import('pino');
  return {
    plugins: [metrics, telemetryPlugin(await providers())],
    logger: pino({ level: 'debug' }, pino.destination('/dev/null')),
  };
}

async function providers() {
  const { context } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
  const { MeterProvider, PeriodicExportingMetricReader } = await import('@opentelemetry/sdk-metrics');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const nowhere = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  return {
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(nowhere)] }),
    meterProvider: new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter: nowhere as never })],
    }),
  };
}
