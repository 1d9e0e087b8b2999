import type { Message } from '../../../shared/messages.js';
import type { RunResult } from '../../../shared/operation-types.js';
import type {
  Checkpoint,
  LogRef,
  OpenRun,
  PageOptions,
  PathOptions,
  SessionRecord,
  SessionRef,
  StoredEvent,
  StoredSend,
} from '../store.js';
import { EventReader } from './codec.js';
import type { LiveLogs } from './live-logs.js';
import { LogState } from './log-state.js';
import type { Statements } from './statements.js';

/** Reads what is committed: from the tails of the logs that are held, else from the database. */
export class Reader {
  readonly #sql: Statements;
  readonly #live: LiveLogs;

  constructor(sql: Statements, live: LiveLogs) {
    this.#sql = sql;
    this.#live = live;
  }

  /** Ids of a session and its present log. */
  session({ scope, app, name }: SessionRef): { readonly id: number; readonly log: number } | null {
    const row = this.#sql.session.get(scope, app, name);
    return row ? { id: row.id as number, log: row.log as number } : null;
  }

  /** The present log of a session, or the one of an epoch. */
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
      const reader = new EventReader(chunk.data as string, first);
      for (let seq = first; seq <= place; seq++) reader.skip();
      while (!reader.done && !full()) take(reader.next());
    }
    for (let i = place - log.chunked; i >= 0 && i < log.tail.length && !full(); i++) take(log.tail[i]!);
    return events;
  }

  sent(session: number, key: string): StoredSend | null {
    const row = this.#sql.sent.get(session, key);
    if (!row) return null;
    const send = {
      key,
      hash: row.hash as string,
      runId: row.run_id as string,
      epoch: row.epoch as string,
      seq: row.seq as number,
    };
    return row.result === null ? send : { ...send, result: JSON.parse(row.result as string) as RunResult };
  }

  checkpoint(log: number): Checkpoint | null {
    const row = this.#sql.checkpoint.get(log);
    return row ? (JSON.parse(row.data as string) as Checkpoint) : null;
  }

  messages(log: number, { tip, limit }: PathOptions): readonly Message[] {
    return this.#sql.messages.all(log, tip, limit).map((row) => JSON.parse(row.data as string) as Message);
  }

  openRuns(log: number): readonly OpenRun[] {
    return this.#sql.runs
      .all(log)
      .map((row) => ({ runId: row.run_id as string, request: row.request as string }));
  }

  list(
    scope: string,
    { limit, before = Number.MAX_SAFE_INTEGER }: PageOptions,
  ): { records: readonly SessionRecord[]; next: number | null } {
    const rows = this.#sql.listSessions.all(scope, before, limit + 1);
    const records = rows.slice(0, limit).map((row) => {
      const ref = { scope, app: row.app as string, name: row.name as string };
      return (this.#live.get(ref) ?? new LogState(ref, row, [])).record();
    });
    return { records, next: rows.length > limit ? (rows[limit - 1]!.open as number) : null };
  }

  count(scope: string): number {
    return this.#sql.countSessions.get(scope)!.n as number;
  }

  unfinished(): readonly SessionRef[] {
    return this.#sql.unfinished
      .all()
      .map(({ scope, app, name }) => ({ scope, app, name }) as unknown as SessionRef);
  }
}
