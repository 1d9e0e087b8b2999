import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

/** Options of `telemetryPlugin`. */
export interface TelemetryOptions {
  /** Where spans go. @default the provider that is registered with `@opentelemetry/api` when the gateway starts */
  readonly tracerProvider?: TracerProvider;
  /** Where metrics go. @default as for `tracerProvider` */
  readonly meterProvider?: MeterProvider;
  /** Whether spans hold what models and tools said, and the texts of errors. People's words are in them. @default false */
  readonly content?: boolean;
}
