import type { SessionStatus } from '../../shared/events.js';
import type { SessionRecord } from './stored.js';

/** A place in the list of a scope's sessions, which is sorted by last use. */
export interface ListPlace {
  readonly updatedAt: number;
  /** Unique for each session, to order those that were used at the same time. */
  readonly ordinal: number;
}

/** Paging through sessions, the last used first. */
export interface PageOptions {
  readonly limit: number;
  /** Lists only sessions used before this place. */
  readonly before?: ListPlace | undefined;
}

/** Selects the sessions of a list. */
export interface ListFilter {
  /** Whether to list archived sessions instead of the others. @default false */
  readonly archived?: boolean | undefined;
  readonly status?: SessionStatus | undefined;
  /** Whether to list only sessions whose last answer failed. @default false */
  readonly failed?: boolean | undefined;
  /** A part of the title, compared by `searched`. */
  readonly query?: string | undefined;
}

/** A page of sessions. */
export interface ListPage {
  readonly records: readonly SessionRecord[];
  /** The place of the last session; null if there are no more. */
  readonly next: ListPlace | null;
}
