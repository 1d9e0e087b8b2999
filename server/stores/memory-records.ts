import { searched } from './about.js';
import type { ListFilter, ListPage, PageOptions } from './listing.js';
import type { MemoryLog, MemorySession } from './memory-log.js';
import { byUse } from './memory-use-order.js';
import type { LogHead, SessionRecord } from './stored.js';

/** A page of sessions. @param open In the order of their last use, the latest first */
export function listOf(
  open: Iterable<MemorySession>,
  { limit, before }: PageOptions,
  filter: ListFilter = {},
): ListPage {
  const found: MemorySession[] = [];
  for (const session of open) {
    if (!isListed(session, filter) || (before && byUse(before, session) >= 0)) continue;
    if (found.length < limit) found.push(session);
    else {
      const { updatedAt, ordinal } = found.at(-1)!;
      return { records: found.map(recordOf), next: { updatedAt, ordinal } };
    }
  }
  return { records: found.map(recordOf), next: null };
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

function isListed(
  { about, log }: MemorySession,
  { archived = false, status, failed, query }: ListFilter,
): boolean {
  return (
    (about.archived ?? false) === archived &&
    (status === undefined || log.activity.status === status) &&
    (!failed || about.failed === true) &&
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
