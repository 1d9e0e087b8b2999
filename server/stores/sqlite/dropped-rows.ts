import { nextTurn } from '../../async/turn.js';
import type { SqliteConnection } from './connection.js';
import type { Value } from './driver.js';

/** The tables that have many rows of a log. */
const TABLES = ['said', 'message', 'chunk'] as const;
/** Rows that one statement drops. */
const ROWS = 25;
/** Time after which a transaction ends, in milliseconds. */
const PIECE_MS = 3;

/**
 * Rows of logs that are gone. Such a log is only noted at first, and its rows go in pieces, because those of a long conversation take seconds. No
 * statement finds them meanwhile, and the next opening goes on with the rest.
 */
export class DroppedRows {
  readonly #connection: SqliteConnection;
  readonly #note;
  readonly #few;
  readonly #next;
  readonly #rows;
  readonly #done;
  #sweeping: Promise<void> | null = null;

  constructor(connection: SqliteConnection) {
    const { db } = connection;
    this.#connection = connection;
    this.#note = db.prepare('INSERT OR IGNORE INTO dropped VALUES (?, ?)');
    this.#few = ['term', 'checkpoint'].map((table) => db.prepare(`DELETE FROM ${table} WHERE log = ?`));
    this.#next = db.prepare('SELECT log, part FROM dropped LIMIT 1');
    this.#done = db.prepare('DELETE FROM dropped WHERE log = ? AND part = ?');
    this.#rows = Object.fromEntries(
      TABLES.map((table) => {
        const some = `SELECT rowid FROM ${table} WHERE log = ? LIMIT ${ROWS}`;
        return [table, db.prepare(`DELETE FROM ${table} WHERE rowid IN (${some}) RETURNING 1`)];
      }),
    );
  }

  /** Drops all of a log but its own row, within a transaction. */
  drop(log: Value): void {
    for (const statement of this.#few) statement.run(log);
    for (const table of TABLES) this.#note.run(log, table);
  }

  /** Drops the texts of a log that is closed, within a transaction. */
  dropSaid(log: Value): void {
    this.#note.run(log, 'said');
  }

  /** Begins to remove the rows that are left. If that fails, the next sweep goes on. */
  begin(): void {
    this.sweep().catch(() => {});
  }

  /** Removes the rows that are left, some in each turn of the event loop. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    do {
      await nextTurn();
      await this.#connection.disk.free();
    } while (this.#connection.open && this.#piece());
  }

  /** Whether more is left. */
  #piece(): boolean {
    if (!this.#next.get()) return false;
    const end = performance.now() + PIECE_MS;
    this.#connection.transaction(() => {
      for (let row = this.#next.get(); row && performance.now() < end; row = this.#next.get()) {
        const { log, part } = row;
        if (this.#rows[part as string]!.all(log!).length < ROWS) this.#done.run(log!, part!);
      }
    });
    return true;
  }
}
