import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import type { SqliteConnection } from './connection.js';
import type { SqliteRow, Value } from './driver.js';
import { CHUNK } from './journal.js';

const deflate = promisify(deflateRaw);

/** The events of a chunk, as `encodeEvents` wrote them. */
export function unpacked(data: Value): string {
  return typeof data === 'string' ? data : inflateRawSync(data as Uint8Array).toString('utf8');
}

/**
 * Compresses loose chunks, small ones of a log together, and yields to other work between them. Every event stays readable at its place.
 * Pieces of an answer share nearly all their fields, which are then stored once for many.
 */
export async function packChunks(connection: SqliteConnection): Promise<void> {
  const { db } = connection;
  const loose = db.prepare(
    "SELECT log, last FROM chunk WHERE typeof(data) = 'text' AND (log, last) > (?, ?) ORDER BY log, last LIMIT 1",
  );
  const before = db.prepare(
    'SELECT first, last, size FROM chunk WHERE log = ? AND last < ? ORDER BY last DESC LIMIT 1',
  );
  const from = db.prepare(
    'SELECT log, first, last, data, size FROM chunk WHERE log = ? AND last >= ? ORDER BY last LIMIT 64',
  );
  const drop = db.prepare('DELETE FROM chunk WHERE log = ? AND last BETWEEN ? AND ? RETURNING first, last');
  const put = db.prepare('INSERT INTO chunk VALUES (?, ?, ?, ?, ?)');
  const replace = (rows: readonly SqliteRow[], data: Buffer): void => {
    const { log, first } = rows[0]!;
    const { last } = rows.at(-1)!;
    const dropped = drop.all(log!, first!, last!);
    if (!isSame(dropped, rows)) throw new Meanwhile();
    put.run(log!, first!, last!, data, sum(rows));
  };
  let [log, place]: readonly Value[] = [0, 0];
  while (connection.open) {
    const next = loose.get(log!, place!);
    if (!next) return;
    const previous = before.get(next.log!, next.last!);
    const begin = previous && isSmall([previous]) ? previous.last : next.last;
    const rows = together(from.all(next.log!, begin!));
    [log, place] = [next.log!, rows.at(-1)!.last!];
    const data = await deflate(rows.map((row) => unpacked(row.data!)).join(''));
    if (!connection.open) return;
    try {
      connection.transaction(() => replace(rows, data));
    } catch (error) {
      if (!(error instanceof Meanwhile)) throw error;
    }
  }
}

/** The chunks were cut or packed meanwhile. The next round reads the rest. */
class Meanwhile extends Error {}

function isSame(some: readonly SqliteRow[], others: readonly SqliteRow[]): boolean {
  const places = (rows: readonly SqliteRow[]): string =>
    rows
      .map(({ first, last }) => `${first} ${last}`)
      .sort()
      .join();
  return places(some) === places(others);
}

const sum = (rows: readonly SqliteRow[]): number =>
  rows.reduce((total, { size }) => total + (size as number), 0);

/** Whether further chunks fit into a row with these. */
function isSmall(rows: readonly SqliteRow[]): boolean {
  const events = (rows.at(-1)!.last as number) - (rows[0]!.first as number) + 1;
  return events <= CHUNK.events / 2 && sum(rows) <= CHUNK.chars / 2;
}

/** The first of these rows, and the ones after it that together fill a row of the usual size. */
function together(rows: readonly SqliteRow[]): readonly SqliteRow[] {
  let end = 1;
  while (end < rows.length && isSmall(rows.slice(0, end))) end += 1;
  return rows.slice(0, end);
}
