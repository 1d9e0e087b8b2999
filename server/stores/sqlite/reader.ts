import type { Message } from '../../../shared/messages.js';
import type { RunResult } from '../../../shared/operation-types.js';
import { searched } from '../about.js';
import { EventReader } from '../event-text.js';
import type { ListFilter, ListPage, ListPlace, PageOptions } from '../listing.js';
import type { PathOptions } from '../store.js';
import type {
  Checkpoint,
  LeftRun,
  LogRef,
  MessageRow,
  RunName,
  RunRecord,
  SessionRef,
  StepRecord,
  StoredEvent,
} from '../stored.js';
import { fromColumn, toColumn, toNullable } from '../text-column.js';
import type { SqliteRow } from './driver.js';
import type { LiveLogs } from './live-logs.js';
import { LogState } from './log-state.js';
import { unpacked } from './packing.js';
import { columnsOf, refOf } from './session-columns.js';
import type { Statements } from './statements.js';

/** A place before all places of a list. */
const NEWEST: ListPlace = { updatedAt: Number.MAX_SAFE_INTEGER, ordinal: 0 };

/** Reads committed data: from the tails of held logs, else from the database. */
export class SqliteReader {
  readonly #sql: Statements;
  readonly #live: LiveLogs;

  constructor(sql: Statements, live: LiveLogs) {
    this.#sql = sql;
    this.#live = live;
  }

  /** Ids of a session and its present log. */
  session(ref: SessionRef): { readonly id: number; readonly log: number } | null {
    const row = this.#sql.session.get(...columnsOf(ref));
    return row ? { id: row.id as number, log: row.log as number } : null;
  }

  /** The present log of a session, or the log of an epoch. */
  log(ref: SessionRef, epoch?: string): LogState | null {
    const live = this.#live.get(ref);
    if (live && (epoch === undefined || live.epoch === epoch)) return live;
    const session = this.session(ref);
    if (!session) return null;
    const row =
      epoch === undefined ? this.#sql.log.get(session.log) : this.#sql.logOfEpoch.get(session.id, epoch);
    return row ? new LogState(ref, row, this.#sql.terms.all(row.id as number)) : null;
  }

  conversations(ref: SessionRef): readonly string[] {
    const session = this.#live.get(ref)?.session ?? this.session(ref)?.id;
    return session === undefined ? [] : this.#sql.epochs.all(session).map(({ epoch }) => epoch as string);
  }

  read(ref: LogRef, after: number, limit: number, bytes: number): readonly StoredEvent[] {
    const log = this.log(ref, ref.epoch);
    if (!log) return [];
    const events: StoredEvent[] = [];
    let size = 0;
    let place = Math.max(after, log.first - 1);
    const full = (): boolean => events.length >= limit || size >= bytes;
    const take = (event: StoredEvent): void => {
      events.push(event);
      size += event.body.length;
      place = event.seq;
    };
    while (place < log.chunked && !full()) {
      const chunk = this.#sql.chunkAfter.get(log.id, place);
      if (!chunk) break;
      const first = chunk.first as number;
      const reader = new EventReader(unpacked(chunk.data!), first);
      for (let seq = first; seq <= place; seq++) reader.skip();
      while (!reader.done && !full()) take(reader.next());
    }
    for (let i = place - log.chunked; i >= 0 && i < log.tail.length && !full(); i++) take(log.tail[i]!);
    return events;
  }

  run(session: number, name: RunName): RunRecord | null {
    const row =
      'runId' in name
        ? this.#sql.run.get(name.runId, session)
        : this.#sql.runOfKey.get(session, toColumn(name.key));
    return row ? toRun(row) : null;
  }

  checkpoint(log: number): Checkpoint | null {
    const row = this.#sql.checkpoint.get(log);
    return row ? (JSON.parse(row.data as string) as Checkpoint) : null;
  }

  messages(log: number, { tip, limit }: PathOptions): readonly MessageRow[] {
    return this.#sql.messages
      .all(log, toColumn(tip), limit)
      .map((row) => JSON.parse(row.data as string) as MessageRow);
  }

  replies(log: number, parent: string | null): readonly string[] {
    const row = this.#sql.reply.get(log, toNullable(parent));
    if (!row) return [];
    const { id, versions = [id] } = JSON.parse(row.data as string) as Message;
    return versions;
  }

  /** The runs of a session that have not ended, with their steps. */
  openRuns(session: number): readonly LeftRun[] {
    const runs = this.#sql.openRuns.all(session).map(toRun);
    if (runs.length === 0) return runs;
    const all = this.#sql.steps.all(session).map(toStep);
    return runs.map((run) => {
      const steps = all.filter(({ runId }) => runId === run.runId);
      return steps.length > 0 ? { ...run, steps } : run;
    });
  }

  list(scope: string | null, { limit, before = NEWEST }: PageOptions, filter: ListFilter = {}): ListPage {
    const { archived = false, status = null, failed = false, query } = filter;
    const place = [
      Number(archived),
      before.updatedAt,
      before.ordinal,
      status,
      query ? toColumn(searched(query)) : null,
      limit + 1,
      Number(failed),
    ];
    const rows =
      scope === null
        ? this.#sql.listAll.all(...place)
        : this.#sql.listSessions.all(...place, toColumn(scope));
    const records = rows.slice(0, limit).map((row) => new LogState(refOf(row), row, []).record());
    const last = rows[limit - 1];
    const next = last && { updatedAt: last.used as number, ordinal: last.open as number };
    return { records, next: rows.length > limit ? next! : null };
  }

  count(scope: string): number {
    return this.#sql.countSessions.get(toColumn(scope))!.n as number;
  }

  unfinished(): readonly SessionRef[] {
    return this.#sql.unfinished.all().map(refOf);
  }
}

function toRun(row: SqliteRow): RunRecord {
  const { key, request, result } = row as Readonly<Record<string, string | null>>;
  return {
    runId: row.run_id as string,
    ...(key !== null && { key: fromColumn(key!), hash: row.hash as string }),
    epoch: row.epoch as string,
    accepted: row.accepted as number,
    ...(request !== null && { request: request! }),
    ...(result !== null && { result: JSON.parse(result!) as RunResult }),
  };
}

function toStep({ run_id, n, name, outcome }: SqliteRow): StepRecord {
  const step = { runId: run_id as string, number: n as number, name: fromColumn(name as string) };
  return outcome === null ? step : { ...step, outcome: outcome as string };
}
