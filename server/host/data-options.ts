import type { ExportedKind, ImportParams } from '../../shared/operation-types.js';
import type { SessionOptions } from '../apps/session-handle.js';
import type { UserLike } from '../auth/types.js';
import type { WhoseSessions } from './execute-options.js';

/** All of a user or of a scope. */
export type WholeScope =
  | { readonly user: UserLike; readonly scope?: never }
  | { readonly scope: string; readonly user?: never };

/** How something is erased. */
export interface EraseOptions extends WhoseSessions {
  /**
   * Whether what was erased is overwritten in the store's files at once, which holds up all else for as long as it takes to write
   * them anew. Otherwise that is for `gateway.vacuum()`, or, with SQLite, for the next opening of the store.
   *
   * @default true
   */
  readonly vacuum?: boolean;
}

/** What is exported, and whose. */
export interface ExportOptions extends WhoseSessions {
  /** @default 'messages' */
  readonly what?: ExportedKind;
}

/** What an import says besides its messages, and whose the session is. */
export type ImportOptions = SessionOptions & Omit<ImportParams, 'sessionId' | 'messages'>;

/** Which notices are listed that could not be told. */
export interface FailedNoticesOptions {
  /** Those that were given up alone. @default also those that are tried again */
  readonly dead?: boolean | undefined;
}

/** Whose sessions are listed that are held. */
export interface HeldOptions {
  /** A gateway's id, or one process of it as `holder` has it. @default all */
  readonly by?: string;
}

/** A session that a shared store says is held. */
export interface HeldSessionInfo {
  readonly sessionId: string;
  readonly scope: string;
  /** The process that holds it: its gateway's id, a dot, and a mark of its own. */
  readonly holder: string;
  /** False only of one that let its lease run out, or left: others take up what it held. */
  readonly alive: boolean;
}

/** Lines of JSON: text or bytes cut anywhere, or the messages themselves. */
export type ImportSource = string | Iterable<unknown> | AsyncIterable<unknown>;
