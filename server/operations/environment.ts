import type { UserContext } from '../../shared/contract.js';
import type { OperationName } from '../../shared/operations.js';
import type { SessionKey } from '../../shared/session-key.js';
import type { AppRegistry } from '../apps/registry.js';
import type { Tickets } from '../auth/tickets.js';
import type { Connections } from '../delivery/connections.js';
import type { RateLimiter } from '../limits/token-bucket.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { MethodEntry } from '../methods/flatten.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { SessionNotice } from '../sessions/environment.js';
import type { Store } from '../stores/store.js';

/** What somebody wants of a session: an operation, its events, or a call of one of its tools by another protocol. */
export type AccessedOperation = OperationName | 'events' | 'tool-call';

/** What a host may say of a session, on top of scopes. False answers like a session that does not exist. */
export type SessionAccess = (
  user: UserContext,
  session: SessionKey & { readonly sessionId: string },
  operation: AccessedOperation,
) => MaybePromise<boolean>;

/** What operations work on. */
export interface OperationEnvironment {
  readonly gatewayId: string;
  readonly store: Store;
  readonly apps: AppRegistry;
  readonly methods: ReadonlyMap<string, MethodEntry>;
  readonly sessions: SessionDirectory;
  readonly connections: Connections;
  readonly tickets: Tickets;
  readonly sends: RateLimiter;
  readonly invokes: RateLimiter;
  readonly methodMs: number;
  readonly sessionAccess: SessionAccess | undefined;
  /** Whether new work is turned away. */
  readonly state: { readonly draining: boolean };
  notify(event: SessionNotice): void;
  report(error: unknown, what: string): void;
}
