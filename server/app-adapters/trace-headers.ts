import type { Turn } from '../apps/application.js';

/** Where every copy of `@opentelemetry/api` keeps what was registered with it. */
const OPENTELEMETRY = Symbol.for('opentelemetry.js.api.1');

/**
 * The headers that carry the sender's trace on to a model's endpoint. None where OpenTelemetry propagates: its instrumentation of `fetch`
 * adds its own, and two of them are as good as none.
 */
export function traceHeaders({ traceparent }: Pick<Turn, 'traceparent'>): Readonly<Record<string, string>> {
  if (traceparent === undefined) return {};
  const registered = (globalThis as { [OPENTELEMETRY]?: { readonly propagation?: unknown } })[OPENTELEMETRY];
  return registered?.propagation ? {} : { traceparent };
}
