import { encodeEvents } from '../event-text.js';
import { homeOf, textOfHome } from '../records.js';
import type { SessionRef, StoredEvent } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { fromColumn, toColumn } from '../text-column.js';
import type { SqliteConnection } from './connection.js';
import type { DroppedRows } from './dropped-rows.js';
import type { Journal } from './journal.js';
import type { SqliteSaid } from './said.js';
import { columnsOf, refOf } from './session-columns.js';
import type { Statements } from './statements.js';

interface ErasingParts {
  readonly connection: SqliteConnection;
  readonly sql: Statements;
  readonly dropped: DroppedRows;
}

/**
 * Drops all of a session, within a transaction. The journal may still name its logs; replay ignores logs that are gone. The session's rows
 * go too, since a successor has new ones.
 */
export function eraseSession(
  { connection, sql, dropped }: ErasingParts,
  session: number,
  { scope, app, name }: SessionRef,
): void {
  const { db } = connection;
  for (const { id } of db.prepare('SELECT id FROM log WHERE session = ?').all(session)) dropped.drop(id!);
  db.prepare('DELETE FROM log WHERE session = ?').run(session);
  db.prepare('DELETE FROM run WHERE session = ?').run(session);
  db.prepare('DELETE FROM session WHERE id = ?').run(session);
  sql.dropRecords.run(textOfHome({ scope, app, name }));
}

/** Leaves a closed log with one event in place of an erased session, within the same transaction. */
export function leaveLast(
  { sql }: Pick<ErasingParts, 'sql'>,
  ref: SessionRef,
  epoch: string,
  last: StoredEvent,
): void {
  const now = Date.now();
  const session = sql.putSession.all(...columnsOf(ref))[0]!.id as number;
  const log = sql.putLog.all(session, epoch, null, now, 0)[0]!.id as number;
  sql.pointSession.run(log, now, null, session);
  const events = [{ ...last, seq: 1 }];
  const size = sizeOf(events);
  sql.putTerm.run(log, last.term, 1);
  sql.putChunk.run(log, 1, 1, encodeEvents(events), size);
  sql.moveHead.run(1, size, log);
  sql.closeLog.run(now, log);
  sql.eraseLog.run(log);
  sql.closeSession.run(session);
}

/** Drops a closed session at once, and leaves an open one as it is. Returns whether there was one. */
export function removeSession(parts: ErasingParts, ref: SessionRef): boolean {
  const { connection } = parts;
  const found = connection.db
    .prepare('SELECT id FROM session WHERE scope = ? AND app = ? AND name = ? AND open IS NULL')
    .get(...columnsOf(ref));
  if (!found) return false;
  connection.transaction(() => eraseSession(parts, found.id as number, ref));
  return true;
}

/** Sessions of a scope of which any data is kept. */
export function keptSessions(
  sql: Statements,
  scope: string,
  { limit, after }: { readonly limit: number; readonly after?: SessionRef },
): readonly SessionRef[] {
  const rows = sql.keptSessions.all(
    toColumn(scope),
    toColumn(after?.app ?? ''),
    toColumn(after?.name ?? ''),
    limit,
  );
  return rows.map((row) => refOf({ ...row, scope: toColumn(scope) }));
}

/** All scopes of which anything is kept. */
export function scopesIn(sql: Statements): readonly string[] {
  const ofSessions = sql.scopes.all().map(({ scope }) => fromColumn(scope as string));
  const ofRecords = sql.recordHomes.all().map(({ home }) => homeOf(home as string).scope);
  return [...new Set([...ofSessions, ...ofRecords])];
}

/** Removes all dropped data from the file and its write-ahead log. Takes as long as writing everything that is kept. */
export function vacuum({
  connection,
  journal,
  said,
}: Pick<ErasingParts, 'connection'> & { readonly journal: Journal; readonly said: SqliteSaid }): void {
  journal.empty();
  said.settle();
  // Dropped words stay in their index until all of it is merged.
  connection.db.exec("INSERT INTO said_words (said_words) VALUES ('optimize')");
  connection.vacuum();
}
