import { formatCursor } from '../../../shared/cursor.js';
import {
  type AppendOptions,
  type AppendResult,
  type EventRecord,
  placeOfAccepted,
  placeOfEnd,
  StoreError,
} from '../append.js';
import { type ChangeOptions, putsInSession, type RecordChange, type RecordHome } from '../records.js';
import type { LogRef, RunRecord } from '../stored.js';
import { toColumn, toNullable } from '../text-column.js';
import type { SqliteConnection } from './connection.js';
import type { DroppedRows } from './dropped-rows.js';
import { eraseSession, leaveLast } from './erasing.js';
import { commitFailure, writeFailure } from './faults.js';
import type { Journal } from './journal.js';
import type { LiveLogs } from './live-logs.js';
import { encodeActivity, type LogState } from './log-state.js';
import { putAbout } from './put-about.js';
import { putMessages } from './put-messages.js';
import type { SqliteRecords } from './records.js';
import { rewriteEvents } from './rewriting.js';
import type { SqliteSaid } from './said.js';
import { columnsOf } from './session-columns.js';
import type { Statements } from './statements.js';

interface PendingAppend {
  readonly log: LogRef;
  readonly events: readonly EventRecord[];
  readonly options: AppendOptions;
}

/** One write of a group. */
interface Job {
  readonly isPrecious: boolean;
  /** Performs it. Returns an error if it is refused and has written nothing. */
  write(group: CommitGroup): unknown;
  resolve(result: never): void;
  reject(error: unknown): void;
}

/** Acts of people, steps and ends of runs. Losing one would break a promise; a lost delta only shortens an answer that is `lost`. */
const PRECIOUS: ReadonlySet<string> = new Set([
  'message_accepted',
  'run_spawned',
  'run_steered',
  'tool_confirmation_vote',
  'tool_confirmation_result',
  'input_result',
  'message_end',
  'message_replaced',
  'history_moved',
  'compacted',
  'session_updated',
  'session_closed',
]);

export interface GroupCommitOptions {
  readonly connection: SqliteConnection;
  readonly sql: Statements;
  readonly live: LiveLogs;
  readonly journal: Journal;
  readonly records: SqliteRecords;
  readonly said: SqliteSaid;
  readonly dropped: DroppedRows;
  /** Whether every commit survives a loss of power. */
  readonly full: boolean;
  runOfKey(session: number, key: string): RunRecord | null;
  appended(log: LogState): void;
  /** Tells those who watch a log of its appends, as they are answered. */
  wake(log: LogState): void;
}

/**
 * Writes the appends of one event-loop turn, of all sessions, in one transaction. It answers once that is committed, and to precious ones once
 * it is on the disk.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #jobs: Job[] = [];
  #scheduled = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    const { steps, records, rewrites } = options;
    const isPrecious = !!steps || !!records || !!rewrites || events.some(({ type }) => PRECIOUS.has(type));
    return this.#add(isPrecious, (group) => group.write({ log, events, options }));
  }

  /** Changes records of a home. Returns whether that was allowed. */
  change(
    home: RecordHome,
    changes: readonly RecordChange[],
    { mayRepeat = false }: ChangeOptions = {},
  ): Promise<boolean> {
    return this.#add(!mayRepeat, (group) => group.change(home, changes));
  }

  #add<Result>(isPrecious: boolean, write: (group: CommitGroup) => Result | StoreError): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ isPrecious, write, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#options.connection.disk.free().then(this.flush));
    });
  }

  /** Commits all waiting writes now. */
  readonly flush = (): void => {
    this.#scheduled = false;
    const jobs = this.#jobs;
    this.#jobs = [];
    if (jobs.length > 0) this.#commit(jobs);
  };

  #commit(jobs: readonly Job[]): void {
    const { connection, journal } = this.#options;
    let committing = false;
    const group = new CommitGroup(this.#options);
    try {
      const answers = jobs.map((job) => job.write(group));
      committing = true;
      group.commit();
      committing = false;
      journal.committed();
      for (const log of group.logs) this.#options.appended(log);
      this.#answer(jobs, answers, group);
    } catch (error) {
      if (group.begun) connection.rollback();
      group.undo();
      journal.failed();
      const failure = committing ? commitFailure(error) : writeFailure(error);
      // The database may refuse only one of them, which must not hold up the others.
      if (failure.code === 'REFUSED' && jobs.length > 1) for (const job of jobs) this.#commit([job]);
      else for (const job of jobs) job.reject(failure);
    }
  }

  #answer(jobs: readonly Job[], answers: readonly unknown[], group: CommitGroup): void {
    const later = new Map<Job, never>();
    for (const [i, job] of jobs.entries()) {
      const answer = answers[i];
      if (answer instanceof StoreError) job.reject(answer);
      else if (this.#options.full || job.isPrecious) later.set(job, answer as never);
      else job.resolve(answer as never);
    }
    const wake = (): void => {
      for (const log of group.logs) this.#options.wake(log);
    };
    if (later.size === 0) return wake();
    const syncing = this.#options.connection.disk.synced();
    for (const log of group.logs) log.syncing = syncing;
    syncing.then(
      () => {
        for (const log of group.logs) if (log.syncing === syncing) log.syncing = null;
        for (const [job, answer] of later) job.resolve(answer);
        wake();
      },
      (error: unknown) => {
        for (const job of later.keys()) job.reject(error);
      },
    );
  }
}

/** One transaction in progress. It begins with the first statement besides the journal's, which alone is a transaction by itself. */
class CommitGroup {
  readonly #options: GroupCommitOptions;
  readonly #undo = new Map<LogState, () => void>();
  begun = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  get logs(): Iterable<LogState> {
    return this.#undo.keys();
  }

  #sql(): Statements {
    if (!this.begun) {
      this.#options.connection.begin();
      this.begun = true;
    }
    return this.#options.sql;
  }

  commit(): void {
    const { connection, journal } = this.#options;
    if (!this.begun) return connection.alone(() => journal.write());
    journal.write();
    connection.commit();
  }

  undo(): void {
    for (const back of this.#undo.values()) back();
  }

  /** Writes one append. A refused one has written nothing. */
  write({ log: ref, events, options }: PendingAppend): AppendResult | StoreError {
    const { live } = this.#options;
    const log = live.find(ref) ?? live.closed(ref);
    const fenced = (): StoreError => new StoreError('FENCED', 'Another writer holds this session');
    if (!log || options.term !== log.term) return fenced();
    const last = log.batch?.number ?? 0;
    if (log.batch && options.batch <= last) return log.batch.result;
    if (log.closed) return fenced();
    if (options.batch !== last + 1)
      return new StoreError(
        'ROLLED_BACK',
        `Batch ${options.batch} was sent, but the last one in the store is ${last}`,
      );
    const first = log.head + 1;
    const key = options.opens?.key;
    const known = key === undefined ? null : this.#options.runOfKey(log.session, key);
    const nothing = { epoch: log.epoch, first, last: log.head };
    if (known) return { ...nothing, duplicate: known };
    const { records } = options;
    if (records && !this.#options.records.allows(log.ref, records)) return { ...nothing, stale: true };

    if (!this.#undo.has(log)) this.#undo.set(log, log.mark());
    if (options.erase !== undefined) this.#erase(log, events, options.erase);
    else {
      this.#writeEvents(log, events);
      this.#writeRecords(log, { first, events }, options);
      if (options.close) this.#close(log);
    }
    const result = { epoch: log.epoch, first, last: log.head };
    log.batch = { number: options.batch, result };
    return result;
  }

  /** Changes records, unless one has another token than expected, or is put into a session that is gone. */
  change(home: RecordHome, changes: readonly RecordChange[]): boolean {
    const { records, sql } = this.#options;
    if (putsInSession(home, changes) && !sql.keptLog.get(...columnsOf(home))) return false;
    if (!records.allows(home, changes)) return false;
    this.#sql();
    records.change(home, changes);
    return true;
  }

  #writeEvents(log: LogState, events: readonly EventRecord[]): void {
    if (events.length === 0) return;
    if (!log.termKept) {
      this.#sql().putTerm.run(log.id, log.term, log.head + 1);
      log.termKept = true;
    }
    for (const event of events) {
      event.seq = ++log.head;
      event.term = log.term;
      log.tail.push(event);
      log.size += event.body.length;
    }
    this.#options.journal.add(log.id, events[0]!.seq, events);
  }

  #writeRecords(
    log: LogState,
    { first, events }: { readonly first: number; readonly events: readonly EventRecord[] },
    { opens, steps = [], ends = [], activity, about, records, messages, said, rewrites }: AppendOptions,
  ): void {
    if (activity) {
      this.#sql().putActivity.run(encodeActivity(activity), log.id);
      log.activity = activity;
    }
    if (about) putAbout(this.#sql(), log, about);
    if (records) {
      this.#sql();
      this.#options.records.change(log.ref, records);
    }
    if (messages) {
      const sql = this.#sql();
      const grown = putMessages(sql, log.id, messages);
      sql.moveFirst.run(log.first, grown, log.id);
      log.size += grown;
    }
    if (rewrites) rewriteEvents(this.#sql(), this.#options, log, rewrites);
    if (said) {
      this.#sql();
      this.#options.said.change(log, said);
    }
    if (opens) {
      const { runId, key = null, hash = null, request } = opens;
      const accepted = placeOfAccepted(events, first);
      this.#sql().putRun.run(runId, log.session, toNullable(key), hash, log.epoch, accepted, request);
    }
    for (const { runId, number, name, outcome = null } of steps)
      this.#sql().putStep.run(runId, log.session, number, toColumn(name), outcome);
    for (const { runId, result } of ends) {
      const place = placeOfEnd(events, runId, log.head);
      const kept = { cursor: formatCursor(log.epoch, log.term, place), ...result };
      this.#sql().endRun.run(JSON.stringify(kept), Date.now(), runId, log.session);
    }
  }

  /** Drops the session of a log, except for the last one of these events. */
  #erase(log: LogState, events: readonly EventRecord[], epoch: string): void {
    const sql = this.#sql();
    for (const event of events) Object.assign(event, { seq: ++log.head, term: log.term });
    const { connection, dropped } = this.#options;
    eraseSession({ connection, sql, dropped }, log.session, log.ref);
    leaveLast({ sql }, log.ref, epoch, events.at(-1)!);
    Object.assign(log, { chunked: log.head, tail: [], size: 0, closed: true, erased: true });
  }

  #close(log: LogState): void {
    const sql = this.#sql();
    this.#options.journal.chunkTail(log);
    sql.closeLog.run(Date.now(), log.id);
    this.#options.dropped.dropSaid(log.id);
    sql.closeSession.run(log.session);
    sql.endRuns.run(Date.now(), log.session);
    log.closed = true;
  }
}
