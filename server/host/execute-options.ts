import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionStatus } from '../../shared/events.js';
import type { SessionOptions } from '../apps/session-handle.js';
import type { UserLike } from '../auth/types.js';

/** Whose sessions host code means. */
export interface WhoseSessions extends SessionOptions {
  /** The scope itself, in place of a user: what `sessionScope` is told to make of them. Nobody is asked whether it may be reached. */
  readonly scope?: string | undefined;
}

/** Whose sessions to list, and which page of them. */
export interface SessionsOptions extends WhoseSessions {
  /** @default 50 */
  readonly limit?: number | undefined;
  /** The `cursor` of the page before. */
  readonly before?: string | undefined;
  /** Those that are archived, or those that are not. @default false */
  readonly archived?: boolean | undefined;
  readonly status?: SessionStatus | undefined;
  /** A part of the title, in capitals or not. */
  readonly query?: string | undefined;
}

/** For whom host code does an operation. */
export interface ExecuteOptions extends SessionOptions {
  /** For the one who makes this request, by the gateway's own authentication; `user` goes before. */
  readonly by?:
    | {
        readonly request: IncomingMessage;
        readonly response: ServerResponse;
        /** Null says that the host, which names users, found none. */
        readonly user?: UserLike | null | undefined;
      }
    | undefined;
}
