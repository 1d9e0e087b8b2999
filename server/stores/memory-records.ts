import { searched } from './about.js';
import type { ListFilter, ListPage, ListPlace, PageOptions } from './listing.js';
import type { MemoryLog, MemorySession } from './memory-log.js';
import type { LogHead, SessionRecord } from './stored.js';

/** A page of sessions. */
export function listOf(
  open: Iterable<MemorySession>,
  { limit, before }: PageOptions,
  filter: ListFilter = {},
): ListPage {
  const listed = [...open]
    .filter((session) => isListed(session, filter) && (!before || byUse(before, session) < 0))
    .sort(byUse);
  const found = listed.slice(0, limit);
  const { updatedAt = 0, ordinal = 0 } = found.at(-1) ?? {};
  return { records: found.map(recordOf), next: listed.length > limit ? { updatedAt, ordinal } : null };
}

/** Makes the head of a log. */
export function describe(session: MemorySession, log: MemoryLog): LogHead {
  return {
    epoch: log.epoch,
    term: log.terms.at(-1)?.term ?? session.term,
    first: log.events.first,
    head: log.events.head,
    // A copy, so that the caller does not see the changes of the next writer.
    terms: [...log.terms],
    closed: log.closedAt !== null,
    activity: log.activity,
  };
}

/** Compares sessions by last use, the latest first. */
function byUse(a: ListPlace, b: ListPlace): number {
  return b.updatedAt - a.updatedAt || b.ordinal - a.ordinal;
}

function isListed({ about, log }: MemorySession, { archived = false, status, query }: ListFilter): boolean {
  return (
    (about.archived ?? false) === archived &&
    (status === undefined || log.activity.status === status) &&
    (query === undefined || searched(about.title ?? '').includes(searched(query)))
  );
}

/** Makes the record of a session. */
export function recordOf(session: MemorySession): SessionRecord {
  const { ref, log, createdAt, updatedAt, userId, forkedFrom, about } = session;
  return {
    ref,
    epoch: log.epoch,
    createdAt,
    updatedAt,
    closed: log.closedAt !== null,
    ...about,
    activity: log.activity,
    ...(forkedFrom && { forkedFrom }),
    ...(userId !== undefined && { userId }),
  };
}
