import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionStatus } from '../../shared/events.js';
import type { SessionOptions } from '../apps/session-handle.js';
import type { UserLike } from '../auth/types.js';

/** The owner of the sessions that host code names. */
export interface WhoseSessions extends SessionOptions {
  /** A scope, in place of a user: the one that `sessionScope` would give. There is no access check. */
  readonly scope?: string | undefined;
}

/** Selects a page of the sessions of an owner. */
export interface SessionsOptions extends WhoseSessions {
  /** @default 50 */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page. */
  readonly before?: string | undefined;
  /** Whether to list the archived sessions, or the others. @default false */
  readonly archived?: boolean | undefined;
  readonly status?: SessionStatus | undefined;
  /** A part of the title, ignoring case. */
  readonly query?: string | undefined;
}

/** The user for whom host code does an operation. */
export interface ExecuteOptions extends SessionOptions {
  /** Acts for the sender of this request, found by the gateway's own authentication. `user` takes precedence. */
  readonly by?:
    | {
        readonly request: IncomingMessage;
        readonly response: ServerResponse;
        /** Null means that the host, which names users, found none. */
        readonly user?: UserLike | null | undefined;
      }
    | undefined;
}
