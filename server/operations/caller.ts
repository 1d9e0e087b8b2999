import type { ParentSpan } from '../../shared/method.js';
import type { Person } from '../auth/types.js';

/** The caller of an operation, and its way in. */
export interface Caller {
  readonly person: Person;
  readonly transport: string;
  /** Id from the gateway: the connection's, or one for this call. */
  readonly clientId: string;
  readonly connectionId?: string;
  readonly traceId: string;
  /** Id of the request in its response, its error and the log. */
  readonly requestId: string;
  /** Whether host code or a plugin calls for its own caller. Its messages are not checked against `clientMessages`. */
  readonly trusted?: boolean;
  /** The caller's own span, if it named one. */
  readonly parentSpan?: ParentSpan | undefined;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}
