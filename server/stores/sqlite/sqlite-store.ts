import type { Message } from '../../../shared/messages.js';
import { directoryFiles } from '../files/directory-file-store.js';
import type { FileStore } from '../files/file-store.js';
import {
  type Acquired,
  type AcquireOptions,
  type AppendOptions,
  type AppendResult,
  type Checkpoint,
  type EventRecord,
  type LogHead,
  type LogRef,
  type PageOptions,
  type PathOptions,
  type RunName,
  type RunRecord,
  type SessionRecord,
  type SessionRef,
  type Store,
  type StoredEvent,
  type StoredSize,
  StoreError,
} from '../store.js';
import { begin, putMessages } from './beginning.js';
import { Connection } from './connection.js';
import { loadDriver } from './driver.js';
import { expireRecords, removeSession } from './expiry.js';
import { openFailure, writeFailure } from './faults.js';
import { GroupCommit } from './group-commit.js';
import { Journal } from './journal.js';
import { keyOf, LiveLogs } from './live-logs.js';
import { Reader } from './reader.js';
import { prepareStatements, type Statements } from './statements.js';
import { Terms } from './terms.js';
import { Usage } from './usage.js';

/** Where an SQLite store keeps its database, and how hard it holds on to it. */
export interface SqliteStoreOptions {
  /** The database file; it and its directory are made where there is none. */
  readonly path: string;
  /**
   * What the loss of power may cost. `normal`: the last deltas of runs that were under way; accepted messages, answers of people,
   * steps and ends of runs are kept. `full`: nothing that was acknowledged. The end of the process costs nothing with either.
   *
   * @default 'normal'
   */
  readonly durability?: 'normal' | 'full';
}

interface Parts {
  readonly connection: Connection;
  readonly sql: Statements;
  readonly live: LiveLogs;
  readonly reader: Reader;
  readonly journal: Journal;
  readonly commits: GroupCommit;
  readonly terms: Terms;
  readonly usage: Usage;
}

/** Keeps everything in one SQLite file, which one process at a time can use. */
export class SqliteStore implements Store {
  readonly durability: 'process' | 'disk';
  readonly files: FileStore;
  readonly #path: string;
  readonly #wakes = new Map<string, Set<() => void>>();
  #parts: Parts | null = null;
  #opening: Promise<void> | null = null;
  /** Gateways of this process that share the store. */
  #users = 0;

  constructor({ path, durability = 'normal' }: SqliteStoreOptions) {
    this.#path = path;
    this.files = directoryFiles({ path: `${path}.files` });
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
    const connection = Connection.open(await loadDriver(), this.#path);
    try {
      this.#parts = this.#assemble(connection);
    } catch (error) {
      connection.close();
      throw openFailure(this.#path, error);
    }
  }

  #assemble(connection: Connection): Parts {
    const sql = prepareStatements(connection.db);
    const live = new LiveLogs();
    const reader = new Reader(sql, live);
    const journal = new Journal(connection, sql, live);
    const usage = new Usage(sql, live);
    journal.replay();
    const commits = new GroupCommit({
      connection,
      sql,
      live,
      journal,
      full: this.durability === 'disk',
      runOfKey: (session, key) => reader.run(session, { key }),
      appended: (log) => {
        usage.changed(log);
        if (log.closed) live.drop(log);
        for (const wake of this.#wakes.get(keyOf(log.ref)) ?? []) wake();
      },
    });
    return { connection, sql, live, reader, journal, commits, usage, terms: new Terms(connection, sql) };
  }

  /** Closes the file when its last user does. */
  close(): void {
    const parts = this.#parts;
    if (!parts) return;
    parts.commits.flush();
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#parts = null;
    this.#opening = null;
    try {
      parts.journal.close();
    } finally {
      parts.connection.close();
    }
  }

  get #open(): Parts {
    if (!this.#parts) throw new StoreError('UNAVAILABLE', 'The store is not open');
    return this.#parts;
  }

  acquire(ref: SessionRef, { create, taken }: AcquireOptions): Acquired {
    const { live, reader, terms } = this.#open;
    const kept = reader.log(ref);
    const created = !kept || kept.closed;
    if (created && !create) return { kind: 'absent' };
    try {
      const term = terms.next();
      const log = created ? begin(this.#open, ref, create!) : kept!;
      log.acquire(term, taken);
      live.add(log);
      return {
        kind: 'acquired',
        record: log.record(),
        head: log.describe(),
        openRuns: created ? [] : reader.openRuns(log.session),
        created,
      };
    } catch (error) {
      throw writeFailure(error);
    }
  }

  release(ref: SessionRef, term: number): void {
    const { live, journal } = this.#open;
    const log = live.get(ref);
    if (log?.term !== term) return;
    try {
      if (log.tail.length > 0) journal.chunk([log]);
    } catch (error) {
      throw writeFailure(error);
    }
    live.drop(log);
  }

  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    return this.#open.commits.append(log, events, options);
  }

  read(log: LogRef, after: number, limit: number, bytes: number): readonly StoredEvent[] {
    return this.#open.reader.read(log, after, limit, bytes);
  }

  head(ref: SessionRef, epoch?: string): LogHead | null {
    return this.#open.reader.log(ref, epoch)?.describe() ?? null;
  }

  conversations(ref: SessionRef): readonly string[] {
    return this.#open.reader.conversations(ref);
  }

  run(ref: SessionRef, name: RunName): RunRecord | null {
    const { live, reader } = this.#open;
    const session = live.get(ref)?.session ?? reader.session(ref)?.id;
    return session === undefined ? null : reader.run(session, name);
  }

  sessionOf(scope: string, runId: string): SessionRef | null {
    return this.#open.reader.sessionOf(scope, runId);
  }

  cut(ref: LogRef, checkpoint: Checkpoint, messages: readonly Message[], term: number): void {
    const { connection, sql, reader, journal, usage } = this.#open;
    const log = reader.log(ref, ref.epoch);
    if (!log || checkpoint.seq < log.first) return;
    if (log.term !== term) throw new StoreError('FENCED', 'Another writer holds this session');
    const undo = log.mark();
    const first = checkpoint.seq + 1;
    try {
      connection.transaction(() => {
        // What is cut must not come back from the journal, so its place is behind the log's head there.
        if (log.chunked < checkpoint.seq) journal.chunkTail(log);
        let size = putMessages(sql, log.id, messages);
        sql.putCheckpoint.run(log.id, JSON.stringify(checkpoint));
        for (const chunk of sql.cutChunks.all(log.id, checkpoint.seq)) size -= chunk.size as number;
        sql.moveFirst.run(first, size, log.id);
        log.size += size;
        sql.cutTerms.run(log.id, first);
      });
      log.first = first;
      usage.changed(log);
    } catch (error) {
      undo();
      throw writeFailure(error);
    }
  }

  checkpoint(ref: LogRef): Checkpoint | null {
    const log = this.#open.reader.log(ref, ref.epoch);
    return log && this.#open.reader.checkpoint(log.id);
  }

  messages(ref: LogRef, path: PathOptions): readonly Message[] {
    const log = this.#open.reader.log(ref, ref.epoch);
    return log ? this.#open.reader.messages(log.id, path) : [];
  }

  record(ref: SessionRef): SessionRecord | null {
    return this.#open.reader.log(ref)?.record() ?? null;
  }

  list(
    scope: string,
    page: PageOptions,
  ): { readonly records: readonly SessionRecord[]; readonly next: number | null } {
    return this.#open.reader.list(scope, page);
  }

  count(scope: string): number {
    return this.#open.reader.count(scope);
  }

  usage(ref: SessionRef): StoredSize {
    const { live, reader, usage } = this.#open;
    return usage.of(ref, live.get(ref)?.session ?? reader.session(ref)?.id);
  }

  unfinished(): readonly SessionRef[] {
    return this.#open.reader.unfinished();
  }

  expire(before: { readonly runs: number; readonly closedLogs: number }): Promise<void> {
    const { connection, usage } = this.#open;
    return expireRecords(connection, before).finally(() => usage.forget());
  }

  remove(ref: SessionRef): void {
    try {
      removeSession(this.#open.connection, ref);
      this.#open.usage.forget();
    } catch (error) {
      throw writeFailure(error);
    }
  }

  watch(ref: SessionRef, wake: () => void): () => void {
    const key = keyOf(ref);
    const wakes = this.#wakes.get(key) ?? new Set();
    this.#wakes.set(key, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.#wakes.get(key) === wakes) this.#wakes.delete(key);
    };
  }
}
