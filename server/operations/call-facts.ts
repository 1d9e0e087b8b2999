import type { LogFacts } from '../diagnostics/log-facts.js';
import type { Caller } from './caller.js';

/** What names of sessions and methods look like. What does not is whatever a caller says, and not for the log. */
const NAME = /^[\w.:@+~-]{1,258}$/;

const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' && NAME.test(value) ? value : undefined;

/** What a call asks for. Params may not have been checked. */
export interface Asking {
  readonly operation?: string | undefined;
  readonly sessionId?: unknown;
  readonly method?: unknown;
}

/** What the log is told of a call. */
export function callFacts(caller: Caller, { operation, sessionId, method }: Asking): LogFacts {
  const { identity, requestId, traceId, transport } = caller;
  return {
    user: identity.user.id,
    sessionId: nameOf(sessionId),
    operation,
    method: nameOf(method),
    ...{ requestId, traceId, transport },
  };
}
