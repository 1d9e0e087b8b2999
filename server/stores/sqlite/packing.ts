import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import type { SqliteConnection } from './connection.js';
import type { SqliteRow, Value } from './driver.js';
import { CHUNK } from './journal.js';
import type { SpareTime } from './spare-time.js';

const deflate = promisify(deflateRaw);

/** The events of a chunk, as `encodeEvents` wrote them. */
export function unpacked(data: Value): string {
  return typeof data === 'string' ? data : inflateRawSync(data as Uint8Array).toString('utf8');
}

/** Size of a log's loose chunks from which on they are packed: less than a page is not worth the work. */
const WORTH = 4096;
/** Characters that a row takes besides its events, with its entries in indexes. */
const ROW = 128;
/** Loose chunks that are looked at in one turn of the event loop. */
const LOOKED_AT = 500;
/** The most that is packed in one transaction. */
const BATCH = { rows: 64, chars: 256 * 1024 };

/** Chunks of a log that become one. */
interface PackedRows {
  readonly rows: readonly SqliteRow[];
  /** `SqliteConnection.rewrites` when they were read. */
  readonly rewrites: number;
  readonly data: Buffer;
}

/**
 * Compresses loose chunks, small ones of a log together and those of many logs in one transaction, and leaves the event loop to other work
 * most of the time. Every event stays readable at its place. Pieces of an answer share nearly all their fields, which are then stored once
 * for many. A log that has too little for that is left as it is.
 */
export async function packChunks(connection: SqliteConnection, time: SpareTime): Promise<void> {
  const packer = new ChunkPacker(connection);
  let batch: PackedRows[] = [];
  const write = (): Promise<void> => {
    time.spend(() => packer.write(batch));
    batch = [];
    return time.rest();
  };
  for (let after = 0; connection.open; ) {
    const { upTo, more } = time.spend(() => packer.stretch(after));
    for (const log of time.spend(() => packer.worthy(after, upTo))) {
      let place: number | null = 0;
      while (connection.open && place !== null) {
        const rows = time.spend(() => packer.next(log, place!));
        place = rows ? (rows.at(-1)!.last as number) : null;
        if (!rows || looseSize(rows) < WORTH) continue;
        const { rewrites } = connection;
        batch.push({ rows, rewrites, data: await deflate(rows.map((row) => unpacked(row.data!)).join('')) });
        if (!connection.open) return;
        if (batch.length >= BATCH.rows || sum(batch.flatMap((each) => each.rows)) >= BATCH.chars)
          await write();
      }
    }
    if (!more) break;
    after = upTo;
    if (connection.open) await time.rest();
  }
  if (connection.open && batch.length > 0) time.spend(() => packer.write(batch));
}

/** Reads and replaces chunks. */
class ChunkPacker {
  readonly #connection: SqliteConnection;
  readonly #stretch;
  readonly #worthy;
  readonly #loose;
  readonly #before;
  readonly #after;
  readonly #places;
  readonly #drop;
  readonly #put;

  constructor(connection: SqliteConnection) {
    const { db } = connection;
    this.#connection = connection;
    this.#stretch = db.prepare(
      `SELECT max(log) AS log, count(*) AS chunks FROM (
         SELECT log FROM chunk WHERE typeof(data) = 'text' AND log > ? ORDER BY log LIMIT ${LOOKED_AT})`,
    );
    this.#worthy = db.prepare(
      `SELECT log FROM chunk WHERE typeof(data) = 'text' AND log > ? AND log <= ?
       GROUP BY log HAVING sum(size + ${ROW}) >= ${WORTH} ORDER BY log`,
    );
    this.#loose = db.prepare(
      "SELECT last FROM chunk WHERE typeof(data) = 'text' AND log = ? AND last > ? ORDER BY last LIMIT 1",
    );
    this.#before = db.prepare(
      'SELECT first, last, size FROM chunk WHERE log = ? AND last < ? ORDER BY last DESC LIMIT 1',
    );
    this.#after = db.prepare(
      'SELECT log, first, last, data, size FROM chunk WHERE log = ? AND last > ? ORDER BY last LIMIT 1',
    );
    this.#places = db.prepare('SELECT first, last FROM chunk WHERE log = ? AND last BETWEEN ? AND ?');
    this.#drop = db.prepare('DELETE FROM chunk WHERE log = ? AND last BETWEEN ? AND ?');
    this.#put = db.prepare('INSERT INTO chunk VALUES (?, ?, ?, ?, ?)');
  }

  /** The last log of the next stretch of loose chunks, and whether there may be more behind it. */
  stretch(after: number): { readonly upTo: number; readonly more: boolean } {
    const { log, chunks } = this.#stretch.get(after)!;
    return { upTo: (log ?? after) as number, more: chunks === LOOKED_AT };
  }

  /** The logs after one and up to another that have enough to pack. */
  worthy(after: number, upTo: number): readonly number[] {
    return this.#worthy.all(after, upTo).map(({ log }) => log as number);
  }

  /** The next loose chunk of a log behind a place, with the small ones around it that together fill a row of the usual size. */
  next(log: number, place: number): readonly SqliteRow[] | null {
    const loose = this.#loose.get(log, place);
    if (!loose) return null;
    const previous = this.#before.get(log, loose.last!);
    const joins = previous && (previous.last as number) > place && isSmall([previous]);
    const begin = (joins ? previous : loose).last as number;
    const rows: SqliteRow[] = [];
    while (rows.length === 0 || isSmall(rows)) {
      const row = this.#after.get(log, (rows.at(-1)?.last as number | undefined) ?? begin - 1);
      if (!row) break;
      rows.push(row);
    }
    return rows;
  }

  /** Replaces chunks, but those that were cut, rewritten or packed meanwhile. The next round reads the rest. */
  write(batch: readonly PackedRows[]): void {
    this.#connection.transaction(() => {
      for (const { rows, rewrites, data } of batch) {
        if (rewrites !== this.#connection.rewrites) continue;
        const { log, first } = rows[0]!;
        const { last } = rows.at(-1)!;
        if (!isSame(this.#places.all(log!, first!, last!), rows)) continue;
        this.#drop.run(log!, first!, last!);
        this.#put.run(log!, first!, last!, data, sum(rows));
      }
    });
  }
}

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

function looseSize(rows: readonly SqliteRow[]): number {
  const loose = rows.filter(({ data }) => typeof data === 'string');
  return sum(loose) + loose.length * ROW;
}

/** Whether further chunks fit into a row with these. */
function isSmall(rows: readonly SqliteRow[]): boolean {
  const events = (rows.at(-1)!.last as number) - (rows[0]!.first as number) + 1;
  return events <= CHUNK.events / 2 && sum(rows) <= CHUNK.chars / 2;
}
