import type { Turn } from '../apps/application.js';

/** The global in which every copy of `@opentelemetry/api` keeps its registrations. */
const OPENTELEMETRY = Symbol.for('opentelemetry.js.api.1');

/**
 * The headers that carry the sender's trace to a model's endpoint. Empty if OpenTelemetry propagates: its instrumentation of `fetch` adds
 * its own, and duplicate headers would be invalid.
 */
export function traceHeaders({ traceparent }: Pick<Turn, 'traceparent'>): Readonly<Record<string, string>> {
  if (traceparent === undefined) return {};
  const registered = (globalThis as { [OPENTELEMETRY]?: { readonly propagation?: unknown } })[OPENTELEMETRY];
  return registered?.propagation ? {} : { traceparent };
}
