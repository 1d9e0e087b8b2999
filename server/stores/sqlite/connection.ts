import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../append.js';
import { DiskSync } from './disk.js';
import type { SqliteDatabase, SqliteDriver } from './driver.js';
import { openFailure, storeFailed } from './faults.js';
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './schema.js';

/** Whether SQLite syncs a commit itself, which holds up the event loop (`FULL`), or `DiskSync` does (`OFF`). */
export type Sync = 'OFF' | 'FULL';

const WAL_BYTES = 16 * 1024 * 1024;

/** The one connection to a database file. It holds the file's lock until it is closed. */
export class SqliteConnection {
  readonly db: SqliteDatabase;
  readonly disk: DiskSync;
  /** The number of rewritings of events. Code that reads some, and writes them later, compares it. */
  rewrites = 0;
  /** False once it is closed. */
  open = true;
  readonly #path: string;
  /** The identities of the file and of its write-ahead log, by their paths. */
  readonly #identities = new Map<string, string | null>();
  readonly #begin;
  readonly #commit;
  #sync: Sync = 'FULL';

  private constructor(db: SqliteDatabase, path: string) {
    this.db = db;
    this.#path = path;
    this.#identities.set(path, identityOf(path));
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.disk = new DiskSync(db, path);
  }

  /**
   * Opens the file, and creates it if there is none.
   *
   * @throws GatewayError `STORE_FAILED`; `details.reason` says why
   */
  static open(driver: SqliteDriver, path: string): SqliteConnection {
    let db: SqliteDatabase | null = null;
    try {
      // Other users must not read conversations. SQLite gives its other files the mode of this one.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, 'a', 0o600));
      db = driver(path);
      // Before WAL: the index of the log then lives in memory and a second process is turned away.
      db.exec('PRAGMA locking_mode = EXCLUSIVE');
      prepare(db, path);
      return new SqliteConnection(db, path);
    } catch (error) {
      close(db);
      throw openFailure(path, error);
    }
  }

  /** Runs work in a transaction of its own. If the work throws, nothing is stored. */
  transaction<T>(work: () => T, sync: Sync = 'OFF'): T {
    this.begin(sync);
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /**
   * Checks that the paths still name the files that are open. SQLite goes on with files that were removed, and they are gone with the process.
   * Call it after a write, which makes the write-ahead log.
   *
   * @throws StoreError `UNAVAILABLE`
   */
  assertInPlace(): void {
    for (const path of [this.#path, `${this.#path}-wal`]) {
      const person = identityOf(path);
      const known = this.#identities.get(path) ?? person;
      this.#identities.set(path, known);
      if (person !== null && person === known) continue;
      throw new StoreError(
        'UNAVAILABLE',
        `The file ${path} was removed or replaced while it was open, and what is written is lost with this process: make a backup now, stop, and start with that`,
      );
    }
  }

  /** Prepares a commit. */
  #use(sync: Sync): void {
    this.disk.ready();
    if (sync === this.#sync) return;
    this.db.exec(`PRAGMA synchronous = ${sync}`);
    this.#sync = sync;
  }

  begin(sync: Sync = 'OFF'): void {
    this.#use(sync);
    this.#begin.run();
  }

  commit(): void {
    this.#commit.run();
    this.disk.committed();
  }

  /** Runs one statement, which is a transaction by itself. */
  alone(statement: () => void): void {
    this.#use('OFF');
    statement();
    this.disk.committed();
  }

  rollback(): void {
    try {
      this.db.exec('ROLLBACK');
    } catch {
      // SQLite rolls back by itself, for example if the disk is full.
    }
  }

  /** Writes the whole file anew, without dropped data, and empties the write-ahead log. */
  vacuum(): void {
    this.#use('FULL');
    this.db.exec('VACUUM');
    this.disk.committed();
    this.checkpoint();
  }

  /** Copies committed data into an empty file. */
  copyTo(path: string): void {
    this.db.prepare('VACUUM INTO ?').run(path);
  }

  /** Moves all of the write-ahead log into the file. */
  checkpoint(): void {
    const { busy } = this.db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0)
      throw new Error('Another connection uses the database, so its write-ahead log cannot be emptied now');
  }

  close(): void {
    this.open = false;
    try {
      this.disk.end();
      // SQLite would delete the log that another process has made at this path since.
      const isOurs = identityOf(this.#path) === this.#identities.get(this.#path);
      // libsql keeps a connection, and its lock, until its statements are collected as garbage. Outside WAL the lock can be released
      // explicitly, by the next read.
      if (isOurs)
        this.db.exec(
          'PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_master',
        );
    } catch {
      // The write-ahead log keeps its content, which the next opening reads.
    }
    close(this.db);
    this.disk.close();
  }
}

/** The device and inode that a path names; null if there is nothing. */
function identityOf(path: string): string | null {
  const { dev, ino } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  return dev === undefined ? null : `${dev}:${ino}`;
}

function close(db: SqliteDatabase | null): void {
  try {
    db?.close();
  } catch {
    // The error that led here says more.
  }
}

function prepare(db: SqliteDatabase, path: string): void {
  const number = (pragma: string): number =>
    Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  const version = number('user_version');
  const isNew = version === 0 && number('page_count') === 0;
  if (!isNew && number('application_id') !== APPLICATION_ID) {
    throw storeFailed(path, 'foreign', 'belongs to another program; give sqliteStore a path of its own');
  }
  if (!isNew && version !== SCHEMA_VERSION) {
    throw storeFailed(
      path,
      'schema',
      `was written by another version of this package (schema ${version}, not ${SCHEMA_VERSION}): use that version, or give sqliteStore a new path`,
    );
  }
  // Takes effect only before the first table exists.
  if (isNew) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${WAL_BYTES}; PRAGMA synchronous = FULL`);
  const schema = isNew ? `${SCHEMA}; PRAGMA application_id = ${APPLICATION_ID};` : '';
  // Any write makes the write-ahead log.
  db.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}
