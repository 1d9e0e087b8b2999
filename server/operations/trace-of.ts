import { channels } from '../diagnostics/channels.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import type { Caller } from './caller.js';

/** The trace that what a caller begins belongs to: its own, or one that somebody wants to hear of; else none is made. */
export function traceOf(caller: Caller): TraceOrigin | undefined {
  const { parentSpan } = caller;
  if (parentSpan) return { traceId: parentSpan.traceId, parentSpan };
  return channels.run.hasSubscribers ? { traceId: caller.traceId } : undefined;
}
