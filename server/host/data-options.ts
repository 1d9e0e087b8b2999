import type { ExportedKind, ImportParams } from '../../shared/operation-types.js';
import type { SessionOptions } from '../apps/session-handle.js';
import type { UserLike } from '../auth/types.js';
import type { WhoseSessions } from './execute-options.js';

/** Everything of a user or of a scope. */
export type WholeScope =
  | { readonly user: UserLike; readonly scope?: never }
  | { readonly scope: string; readonly user?: never };

/** Names the one who has something done with the data of others. */
export interface DoneBy {
  /** Id of the person or program that has it done, for the audit. @default nobody is known */
  readonly by?: string;
}

/** Options of an erasure. */
export interface EraseOptions extends WhoseSessions, DoneBy {
  /**
   * Whether the store's files are overwritten at once, which blocks all other work until they are rewritten. Otherwise `gateway.vacuum()`
   * does it, or, with SQLite, the next gateway that opens the store.
   *
   * @default true
   */
  readonly vacuum?: boolean;
}

/** The kind of an export, and the owner of the session. */
export interface ExportOptions extends WhoseSessions, DoneBy {
  /** @default 'messages' */
  readonly what?: ExportedKind;
}

/** Options of an import: the session's owner, title and metadata. */
export type ImportOptions = SessionOptions & Omit<ImportParams, 'sessionId' | 'messages'>;

/** Selects held sessions. */
export interface HeldOptions {
  /** Id of a gateway, or of one process of it as in `holder`. @default all */
  readonly by?: string;
}

/** A session that a shared store says is held. */
export interface HeldSessionInfo {
  readonly sessionId: string;
  readonly scope: string;
  /** The process that holds it: its gateway's id, a dot, and a random suffix. */
  readonly holder: string;
  /** False only if the lease of the holder has expired, or it has left. Others then take its sessions. */
  readonly alive: boolean;
}

/** Lines of JSON as text or bytes, split anywhere, or the messages themselves. */
export type ImportSource = string | Iterable<unknown> | AsyncIterable<unknown>;
