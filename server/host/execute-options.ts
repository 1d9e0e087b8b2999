import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionOptions } from '../apps/session-handle.js';
import type { UserLike } from '../auth/types.js';

/** Whose sessions to list, and which page of them. */
export interface SessionsOptions extends SessionOptions {
  /** @default 50 */
  readonly limit?: number;
  /** The `cursor` of the page before. */
  readonly before?: string;
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
