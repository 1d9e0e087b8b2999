import type { LogFacts } from '../diagnostics/log-facts.js';
import type { Caller } from './caller.js';

/** Well-formed names of sessions and methods. Any other text of a caller stays out of the log. */
const NAME = /^[\w.:@+~-]{1,258}$/;

/** A name of a session or method; undefined for any other text of a caller. */
export const nameIn = (value: unknown): string | undefined =>
  typeof value === 'string' && NAME.test(value) ? value : undefined;

/** The target of a call. Its params may be unchecked. */
export interface CallTarget {
  readonly operation?: string | undefined;
  readonly sessionId?: unknown;
  readonly method?: unknown;
}

/** Facts about a call, for the operator's log. */
export function callFacts(caller: Caller, { operation, sessionId, method }: CallTarget): LogFacts {
  const { person, requestId, traceId, transport } = caller;
  return {
    user: person.user.id,
    sessionId: nameIn(sessionId),
    operation,
    method: nameIn(method),
    ...{ requestId, traceId, transport },
  };
}
