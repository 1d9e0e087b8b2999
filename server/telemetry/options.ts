import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

/** Options of `telemetryPlugin`. */
export interface TelemetryOptions {
  /** Receives spans. @default the provider registered with `@opentelemetry/api` when the gateway starts */
  readonly tracerProvider?: TracerProvider;
  /** Receives metrics. @default as for `tracerProvider` */
  readonly meterProvider?: MeterProvider;
  /** Whether spans contain the output of models and tools, and the texts of errors. People's words are in them. @default false */
  readonly content?: boolean;
}
