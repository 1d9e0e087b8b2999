import { OPERATION_WORDS } from '../../shared/operation-words.js';
import type { OperationName } from '../../shared/operations.js';

/** What an operation is asked with; `events` is a stream. */
export type Asked = OperationName | 'events';

/** Operations that may name a session, and whose sample does not. */
const MAY_NAME: ReadonlySet<string> = new Set(['invoke', 'status']);
/** Those that take away what others need come last. */
const LAST = ['close', 'delete'];

/** What each operation that may be asked about a session is asked with, by its own words: a new one is among them by itself. */
export function paramsOf(
  sessionId: string,
  connectionId: string,
): Readonly<Record<Asked, Record<string, unknown>>> {
  const all: Record<string, Record<string, unknown>> = { events: { sessionId } };
  const entries = Object.entries(OPERATION_WORDS);
  entries.sort(([a], [b]) => LAST.indexOf(a) - LAST.indexOf(b));
  for (const [name, { sample }] of entries) {
    const named = { ...sample, ...('connectionId' in sample && { connectionId }) };
    if (name === 'subscribe') all[name] = { ...named, add: [sessionId] };
    else if (MAY_NAME.has(name) || 'sessionId' in sample) all[name] = { ...named, sessionId };
  }
  return all as Record<Asked, Record<string, unknown>>;
}
