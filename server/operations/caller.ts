import type { ParentSpan } from '../../shared/method.js';
import type { Identity } from '../auth/types.js';

/** Who asks for an operation, and how. */
export interface Caller {
  readonly identity: Identity;
  readonly transport: string;
  /** Minted by the gateway: the connection's id, or one of this call. */
  readonly clientId: string;
  readonly connectionId?: string;
  readonly traceId: string;
  /** Names the request in its answer, its error and the log. */
  readonly requestId: string;
  /** Host code or a plugin, which speaks for its caller: it may write messages as it finds them. */
  readonly trusted?: boolean;
  /** The caller's own span, where it named one. */
  readonly parentSpan?: ParentSpan | undefined;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}
