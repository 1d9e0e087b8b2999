import { encodeEvents } from '../event-text.js';
import { textOfHome } from '../records.js';
import type { BegunErasure, Erasure, Notice, SessionRef } from '../store.js';
import { sizeOf } from '../stored-size.js';
import type { Connection } from './connection.js';
import { dropOfLog } from './expiry.js';
import type { Journal } from './journal.js';
import type { Statements } from './statements.js';

/** What takes the place of a session that is dropped, and the term that it is written in. */
export type TermedNotice = Notice & { readonly term: number };

interface Parts {
  readonly connection: Connection;
  readonly sql: Statements;
}

/**
 * Drops all of a session, within a transaction. The journal may still name its logs; replaying it passes over what is gone. Nothing is
 * kept of its rows either: what takes its place has new ones.
 */
export function eraseSession(
  { connection, sql }: Parts,
  session: number,
  { scope, app, name }: SessionRef,
  notice?: TermedNotice,
): void {
  const { db } = connection;
  const drop = dropOfLog(connection);
  for (const { id } of db.prepare('SELECT id FROM log WHERE session = ?').all(session))
    for (const statement of drop) statement.run(id as number);
  db.prepare('DELETE FROM log WHERE session = ?').run(session);
  db.prepare('DELETE FROM run WHERE session = ?').run(session);
  db.prepare('DELETE FROM session WHERE id = ?').run(session);
  sql.dropRecords.run(textOfHome({ scope, app, name }));
  if (!notice) return;
  const { epoch, term } = notice;
  const now = Date.now();
  const anew = sql.putSession.all(scope, app, name)[0]!.id as number;
  const log = sql.putLog.all(anew, epoch, null, now)[0]!.id as number;
  sql.pointSession.run(log, now, null, anew);
  const events = [{ ...notice.event, seq: 1, term }];
  const size = sizeOf(events);
  sql.putTerm.run(log, term, 1);
  sql.putChunk.run(log, 1, 1, encodeEvents(events), size);
  sql.moveHead.run(1, size, log);
  sql.closeLog.run(now, log);
  sql.closeSession.run(anew);
}

/** Drops a closed session at once; one that is open is left as it is. Whether there was one. */
export function removeSession(parts: Parts, ref: SessionRef, notice?: TermedNotice): boolean {
  const { scope, app, name } = ref;
  const { connection } = parts;
  const found = connection.db
    .prepare('SELECT id FROM session WHERE scope = ? AND app = ? AND name = ? AND open IS NULL')
    .get(scope, app, name);
  if (!found) return false;
  connection.transaction(() => eraseSession(parts, found.id as number, ref, notice), 'FULL');
  return true;
}

/** Sessions of a scope of which there is anything. */
export function keptSessions(
  sql: Statements,
  scope: string,
  { limit, after }: { readonly limit: number; readonly after?: SessionRef },
): readonly SessionRef[] {
  const rows = sql.keptSessions.all(scope, after?.app ?? '', after?.name ?? '', limit);
  return rows.map(({ app, name }) => ({ scope, app: app as string, name: name as string }));
}

/** Names of rows of `meta`: each erasure that has begun, and that there is something to be vacuumed. */
const ERASING = 'erasing ';
const VACUUM = 'vacuum';

const rowOf = (erasure: Erasure): string => `${ERASING}${textOfHome(erasure)}`;

/** Notes what is to be dropped, and that the file is to be written anew when it is. */
export function beginErasure({ connection, sql }: Parts, begun: BegunErasure): void {
  connection.transaction(() => {
    sql.putMeta.run(rowOf(begun.erasure), JSON.stringify(begun));
    sql.putMeta.run(VACUUM, 1);
  }, 'FULL');
}

export function erasures(sql: Statements): readonly BegunErasure[] {
  return sql.metaFrom.all(ERASING).map(({ value }) => JSON.parse(value as string) as BegunErasure);
}

/** What a former process was erasing leaves nothing in the file, whatever it had been told: whoever ends it vacuums. */
export function vacuumLeft(parts: Parts): void {
  for (const begun of erasures(parts.sql)) if (!begun.vacuum) beginErasure(parts, { ...begun, vacuum: true });
}

export function endErasure({ connection, sql }: Parts, erasure: Erasure): void {
  connection.transaction(() => sql.dropMeta.run(rowOf(erasure)), 'FULL');
}

/** Whether something was erased since the file was written anew, and all that was to be erased is. */
export function isToVacuum(sql: Statements): boolean {
  return sql.meta.get(VACUUM) !== undefined && erasures(sql).length === 0;
}

/** Leaves nothing of what was dropped in the file and its write-ahead log. Takes as long as writing all that is kept. */
export function vacuum({ connection, sql, journal }: Parts & { readonly journal: Journal }): void {
  const isDone = erasures(sql).length === 0;
  journal.empty();
  connection.vacuum();
  // Not before the file is clean: whoever is ended until here does it again.
  if (isDone) connection.transaction(() => sql.dropMeta.run(VACUUM));
}
