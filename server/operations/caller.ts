import type { Identity } from '../auth/types.js';

/** Who asks for an operation, and how. */
export interface Caller {
  readonly identity: Identity;
  readonly transport: string;
  /** Minted by the gateway: the connection's id, or one of this call. */
  readonly clientId: string;
  readonly connectionId?: string;
  readonly traceId: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}
