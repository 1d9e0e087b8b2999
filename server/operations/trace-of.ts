import { channels } from '../diagnostics/channels.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import type { Caller } from './caller.js';

/** The trace for a caller's new run: the caller's own, or a new one if a listener subscribes to runs; otherwise undefined. */
export function traceOf(caller: Caller): TraceOrigin | undefined {
  const { parentSpan } = caller;
  if (parentSpan) return { traceId: parentSpan.traceId, parentSpan };
  return channels.run.hasSubscribers ? { traceId: caller.traceId } : undefined;
}
