import type { Acquired, AcquireOptions, NewSession } from '../store.js';
import type { SessionRef } from '../stored.js';
import { toNullable } from '../text-column.js';
import type { SqliteConnection } from './connection.js';
import type { LiveLogs } from './live-logs.js';
import { LogState } from './log-state.js';
import type { SqliteReader } from './reader.js';
import { columnsOf } from './session-columns.js';
import type { Statements } from './statements.js';
import type { Terms } from './terms.js';

/** The parts of the store that begin a log. */
interface BeginningLogParts {
  readonly connection: SqliteConnection;
  readonly sql: Statements;
  readonly reader: SqliteReader;
}

/** Begins a log of a new session, or of one whose log is closed. */
function begin(
  { connection, sql, reader }: BeginningLogParts,
  ref: SessionRef,
  { epoch, userId, forkedFrom, copied }: NewSession,
): LogState {
  return connection.transaction(() => {
    const session = reader.session(ref)?.id ?? (sql.putSession.all(...columnsOf(ref))[0]!.id as number);
    const now = copied?.createdAt ?? Date.now();
    const id = sql.putLog.all(session, epoch, toNullable(userId), now, copied?.after ?? 0)[0]!.id as number;
    sql.pointSession.run(id, now, forkedFrom ? JSON.stringify(forkedFrom) : null, session);
    return new LogState(ref, sql.log.get(id)!, []);
  });
}

type AcquiringParts = BeginningLogParts & { readonly live: LiveLogs; readonly terms: Terms };

/** Gives a log to its next holder. @see Store.acquire */
export function acquireLog(
  parts: AcquiringParts,
  ref: SessionRef,
  { create, taken, term: given }: AcquireOptions,
): Acquired {
  const { live, reader, terms } = parts;
  const kept = reader.log(ref);
  const created = !kept || kept.closed;
  if (created && !create) return { kind: 'absent' };
  const term = given === undefined ? terms.next() : terms.taken(given);
  const log = created ? begin(parts, ref, create!) : kept;
  log.acquire(term, taken);
  live.add(log);
  return {
    kind: 'acquired',
    record: log.record(),
    head: log.describe(),
    openRuns: created ? [] : reader.openRuns(log.session),
    created,
  };
}
