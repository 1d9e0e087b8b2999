import { textOfHome } from '../records.js';
import type { SqliteConnection } from './connection.js';
import type { DroppedRows } from './dropped-rows.js';
import { packChunks } from './packing.js';
import { refOf } from './session-columns.js';
import { SpareTime } from './spare-time.js';

/** Rows or logs dropped in one transaction. */
const SLICE = 100;
/** Free pages worth giving back to the file system, and how many at a time. */
const FREE_PAGES = 256;

/** Drops ended runs and closed logs that are too old, packs chunks and shrinks the file, in slices between which it rests. */
export async function expireRecords(
  connection: SqliteConnection,
  dropped: DroppedRows,
  before: number,
  time = new SpareTime(),
): Promise<void> {
  const { db } = connection;
  const runs = db.prepare(
    'DELETE FROM run WHERE (run_id, session) IN (SELECT run_id, session FROM run WHERE ended < ? LIMIT ?) RETURNING session',
  );
  const logs = db.prepare('SELECT id FROM log WHERE closed < ? LIMIT ?');
  const dropLog = db.prepare('DELETE FROM log WHERE id = ? RETURNING session');
  const shrink = db.prepare(`PRAGMA incremental_vacuum(${FREE_PAGES})`);
  const dropSession = db.prepare(
    'DELETE FROM session WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM log WHERE session = ?1) RETURNING id, scope, app, name',
  );
  const dropRuns = db.prepare('DELETE FROM run WHERE session = ?');
  const dropRecords = db.prepare('DELETE FROM record WHERE home = ?');
  const slice = (): boolean =>
    connection.transaction(() => {
      const ended = runs.all(before, SLICE).length;
      const old = logs.all(before, SLICE);
      const sessions = old.map(({ id }) => {
        dropped.drop(id!);
        return dropLog.all(id as number)[0]!.session as number;
      });
      for (const session of new Set(sessions))
        for (const row of dropSession.all(session)) {
          dropRuns.run(row.id as number);
          dropRecords.run(textOfHome(refOf(row)));
        }
      return ended === SLICE || old.length === SLICE;
    });
  while (connection.open && time.spend(slice)) await time.rest();
  await dropped.sweep();
  if (!connection.open) return;
  await packChunks(connection, time);
  if (!connection.open) return;
  for (let free = freePages(connection); free >= FREE_PAGES; ) {
    time.spend(() => connection.alone(() => shrink.all()));
    const left = freePages(connection);
    if (left >= free) break;
    free = left;
    await time.rest();
    if (!connection.open) return;
  }
}

function freePages({ db }: SqliteConnection): number {
  return Number(db.prepare('PRAGMA freelist_count').get()?.freelist_count ?? 0);
}
