import type { MaybePromise } from '../../async/maybe-promise.js';
import { type AppendOptions, type AppendResult, type EventRecord, StoreError } from '../append.js';
import { DirectoryFiles } from '../files/directory-file-store.js';
import type { FileStore } from '../files/file-store.js';
import type { ListFilter, ListPage, PageOptions } from '../listing.js';
import { keyOf } from '../ref-key.js';
import type { SaidPage, SaidQuery } from '../said.js';
import type { Acquired, AcquireOptions, PathOptions, Store } from '../store.js';
import type {
  Checkpoint,
  LogHead,
  LogRef,
  MessageRow,
  RunName,
  RunRecord,
  SessionRecord,
  SessionRef,
  StoredEvent,
  StoredSize,
} from '../stored.js';
import { type Wake, Watches } from '../watches.js';
import { backUp } from './backup.js';
import { acquireLog } from './beginning.js';
import { SqliteConnection } from './connection.js';
import { cutLog } from './cutting.js';
import { loadDriver } from './driver.js';
import { DroppedRows } from './dropped-rows.js';
import { keptSessions, removeSession, scopesIn, vacuum } from './erasing.js';
import { expireRecords } from './expiry.js';
import { notSynced, openFailure, writeFailure } from './faults.js';
import { filesOf } from './files-beside.js';
import { GroupCommit } from './group-commit.js';
import { Journal } from './journal.js';
import { LiveLogs } from './live-logs.js';
import { SqliteReader } from './reader.js';
import { SqliteRecords } from './records.js';
import { SqliteSaid } from './said.js';
import { prepareStatements, type Statements } from './statements.js';
import { Terms } from './terms.js';
import { SqliteUsage } from './usage.js';

/** The file of an SQLite store, and its durability. */
export interface SqliteStoreOptions {
  /** The database file. It and its directory are created if missing. */
  readonly path: string;
  /**
   * The loss that a power failure may cause. `normal`: the last deltas of unfinished runs; accepted messages, answers of people, steps and
   * ends of runs are kept. `full`: nothing that was acknowledged. The end of the process loses nothing in either mode.
   *
   * @default 'normal'
   */
  readonly durability?: 'normal' | 'full';
}

interface SqliteStoreParts {
  readonly connection: SqliteConnection;
  readonly sql: Statements;
  readonly live: LiveLogs;
  readonly reader: SqliteReader;
  readonly journal: Journal;
  readonly commits: GroupCommit;
  readonly terms: Terms;
  readonly usage: SqliteUsage;
  readonly records: SqliteRecords;
  readonly said: SqliteSaid;
  readonly dropped: DroppedRows;
}

/** Keeps everything in one SQLite file, which only one process at a time can use. */
export class SqliteStore implements Store {
  readonly durability: 'process' | 'disk';
  readonly files: FileStore;
  readonly #directory: DirectoryFiles;
  readonly #path: string;
  readonly #watches = new Watches();
  #parts: SqliteStoreParts | null = null;
  #opening: Promise<void> | null = null;
  #copying: Promise<void> = Promise.resolve();
  /** Gateways of this process that share the store. */
  #users = 0;

  constructor({ path, durability = 'normal' }: SqliteStoreOptions) {
    this.#path = path;
    this.#directory = new DirectoryFiles({ path: filesOf(path) });
    this.files = this.#directory;
    this.durability = durability === 'full' ? 'disk' : 'process';
  }

  /** Opens the file for its first user. @throws GatewayError `STORE_FAILED`; `details.reason` says why */
  async open(): Promise<void> {
    this.#opening ??= this.#openFile();
    try {
      await this.#opening;
      this.#users += 1;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  async #openFile(): Promise<void> {
    const connection = SqliteConnection.open(await loadDriver(), this.#path);
    try {
      const parts = this.#assemble(connection);
      this.#parts = parts;
    } catch (error) {
      connection.close();
      throw openFailure(this.#path, error);
    }
  }

  #assemble(connection: SqliteConnection): SqliteStoreParts {
    const sql = prepareStatements(connection.db);
    const live = new LiveLogs();
    const reader = new SqliteReader(sql, live);
    const journal = new Journal(connection, sql, live);
    const usage = new SqliteUsage(sql, live);
    const records = new SqliteRecords(connection, sql);
    const said = new SqliteSaid(connection, sql, reader);
    const dropped = new DroppedRows(connection);
    journal.replay();
    dropped.begin();
    const commits = new GroupCommit({
      connection,
      sql,
      live,
      journal,
      records,
      said,
      dropped,
      full: this.durability === 'disk',
      runOfKey: (session, key) => reader.run(session, { key }),
      appended: (log) => {
        usage.changed(log);
        if (log.erased) usage.forget();
        if (log.closed) {
          live.drop(log);
          dropped.begin();
        }
      },
      wake: (log) => this.#watches.wake(keyOf(log.ref)),
    });
    return {
      connection,
      sql,
      live,
      reader,
      journal,
      commits,
      usage,
      records,
      said,
      dropped,
      terms: new Terms(connection, sql),
    };
  }

  /** Closes the file when its last user closes the store. */
  close(): void {
    const parts = this.#parts;
    if (!parts) return;
    parts.commits.flush();
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#parts = null;
    this.#opening = null;
    try {
      parts.journal.empty();
    } finally {
      parts.connection.close();
    }
  }

  /** Writes a page, to detect a full or read-only disk, and a file that was removed. */
  check(): void {
    const { connection, sql } = this.#open;
    try {
      connection.transaction(() => sql.putMeta.run('checked', Date.now()));
      connection.assertInPlace();
    } catch (error) {
      throw writeFailure(error);
    }
  }

  get #open(): SqliteStoreParts {
    if (!this.#parts) throw new StoreError('UNAVAILABLE', 'The store is not open');
    return this.#parts;
  }

  acquire(ref: SessionRef, options: AcquireOptions): MaybePromise<Acquired> {
    return this.#free(() => this.#write((parts) => acquireLog(parts, ref, options)));
  }

  /** Writes when that does not hold up the event loop. */
  #free<T>(write: () => T): MaybePromise<T> {
    const { disk } = this.#open.connection;
    return disk.isFree ? write() : disk.free().then(write);
  }

  /** Looks at a session once its last writes are on the disk: nobody is told of a write that may be lost. */
  #told<T>(ref: SessionRef, look: () => T): MaybePromise<T> {
    const syncing = this.#open.live.get(ref)?.syncing;
    return syncing ? syncing.then(look, notSynced) : look();
  }

  release(ref: SessionRef, term: number): MaybePromise<void> {
    return this.#free(() => this.#release(ref, term));
  }

  #release(ref: SessionRef, term: number): void {
    const { live, journal } = this.#open;
    const log = live.get(ref);
    if (log?.term !== term) return;
    if (log.tail.length > 0) this.#write(() => journal.chunk([log]));
    live.drop(log);
  }

  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    return this.#open.commits.append(log, events, options);
  }

  read(log: LogRef, after: number, limit: number, bytes: number): readonly StoredEvent[] {
    return this.#open.reader.read(log, after, limit, bytes);
  }

  head(ref: SessionRef, epoch?: string): MaybePromise<LogHead | null> {
    return this.#told(ref, () => this.#open.reader.log(ref, epoch)?.describe() ?? null);
  }

  readonly changeRecords: Store['changeRecords'] = (home, changes, options) =>
    this.#open.commits.change(home, changes, options);
  readonly search = (query: SaidQuery): SaidPage => this.#write(({ said }) => said.find(query));
  readonly records: Store['records'] = (query) => this.#open.records.list(query);
  readonly takeDue: Store['takeDue'] = (options) =>
    this.#free(() => this.#write(({ records }) => records.take(options)));

  readonly conversations = (ref: SessionRef): readonly string[] => this.#open.reader.conversations(ref);

  run(ref: SessionRef, name: RunName): MaybePromise<RunRecord | null> {
    return this.#told(ref, () => this.#open.reader.run(this.#idOf(ref) ?? -1, name));
  }

  cut(ref: LogRef, checkpoint: Checkpoint, messages: readonly MessageRow[], term: number): void {
    const { reader, usage } = this.#open;
    const log = reader.log(ref, ref.epoch);
    if (!log || checkpoint.seq < log.first) return;
    if (log.term !== term) throw new StoreError('FENCED', 'Another writer holds this session');
    this.#write((parts) => cutLog(parts, log, checkpoint, messages));
    usage.changed(log);
  }

  checkpoint(ref: LogRef): Checkpoint | null {
    const log = this.#open.reader.log(ref, ref.epoch);
    return log && this.#open.reader.checkpoint(log.id);
  }

  messages(ref: LogRef, path: PathOptions): readonly MessageRow[] {
    const log = this.#open.reader.log(ref, ref.epoch);
    return log ? this.#open.reader.messages(log.id, path) : [];
  }

  replies(ref: LogRef, parent: string | null): readonly string[] {
    const log = this.#open.reader.log(ref, ref.epoch);
    return log ? this.#open.reader.replies(log.id, parent) : [];
  }

  readonly record = (ref: SessionRef): SessionRecord | null => this.#open.reader.log(ref)?.record() ?? null;
  readonly count = (scope: string): number => this.#open.reader.count(scope);
  readonly unfinished = (): readonly SessionRef[] => this.#open.reader.unfinished();

  list(scope: string | null, page: PageOptions, filter?: ListFilter): ListPage {
    return this.#open.reader.list(scope, page, filter);
  }

  readonly usage = (ref: SessionRef): StoredSize => this.#open.usage.of(ref, this.#idOf(ref));
  readonly openRuns: Store['openRuns'] = (ref) => this.#open.reader.openRuns(this.#idOf(ref) ?? -1);

  #idOf(ref: SessionRef): number | undefined {
    return this.#open.live.get(ref)?.session ?? this.#open.reader.session(ref)?.id;
  }

  expire(before: number): Promise<void> {
    const { connection, dropped, usage } = this.#open;
    return expireRecords(connection, dropped, before).finally(() => usage.forget());
  }

  async remove(ref: SessionRef): Promise<void> {
    if (!this.#write((parts) => removeSession(parts, ref))) return;
    const { connection, dropped, usage } = this.#open;
    dropped.begin();
    usage.forget();
    await connection.disk.synced();
    this.#watches.wake(keyOf(ref));
  }

  kept(scope: string, page: { readonly limit: number; readonly after?: SessionRef }): readonly SessionRef[] {
    return keptSessions(this.#open.sql, scope, page);
  }

  scopes(): readonly string[] {
    return scopesIn(this.#open.sql);
  }

  async vacuum(): Promise<void> {
    await this.#swept();
    this.#write(vacuum);
  }

  /** Writes what waits, and removes what was dropped. */
  #swept(): Promise<void> {
    const { commits, dropped } = this.#open;
    commits.flush();
    return dropped.sweep().catch((error: unknown) => {
      throw writeFailure(error);
    });
  }

  /** Also copies the files that are kept beside the database. Backups are made one after another. */
  backup(path: string): Promise<void> {
    const copied = this.#copying.then(async () => {
      await this.#swept();
      await backUp(this.#open.connection, path, (files) => this.#directory.copyTo(files));
    });
    this.#copying = copied.catch(() => {});
    return copied;
  }

  #write<T>(work: (parts: SqliteStoreParts) => T): T {
    try {
      return work(this.#open);
    } catch (error) {
      throw writeFailure(error);
    }
  }

  watch(ref: SessionRef, wake: Wake): () => void {
    return this.#watches.add(keyOf(ref), wake);
  }
}
