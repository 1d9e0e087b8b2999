import { encodeEvents } from '../event-text.js';
import type { StoredEvent } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { decodeJournal, encodeGroup } from './codec.js';
import type { SqliteConnection } from './connection.js';
import type { LiveLogs } from './live-logs.js';
import type { LogState } from './log-state.js';
import type { Statements } from './statements.js';

/** Size of the journal, in characters, at which it is moved into chunks. It bounds the next opening's reading and the size of tails. */
const JOURNAL_CHARS = 1024 * 1024;
/** Limits of one chunk. Its last event may exceed them. */
export const CHUNK = { events: 512, chars: 64 * 1024 };
/** Logs moved in one transaction. Moving all at once would block the process if many sessions have a few events each. */
const SLICE = 64;

/** All recent appends, in the order of commits, until they are in the chunks of their logs. */
export class Journal {
  readonly #connection: SqliteConnection;
  readonly #sql: Statements;
  readonly #live: LiveLogs;
  #id = 0;
  #chars = 0;
  #text = '';
  #moving = false;
  /** Whether it has something that its log has no more. */
  #outdated = false;

  constructor(connection: SqliteConnection, sql: Statements, live: LiveLogs) {
    this.#connection = connection;
    this.#sql = sql;
    this.#live = live;
  }

  /** Moves the remains of the last process into chunks. */
  replay(): void {
    const left = new Map<number, StoredEvent[]>();
    const heads = new Map<number, number>();
    for (const row of this.#sql.journal.all()) {
      for (const { log, events } of decodeJournal(row.data as string)) {
        if (!heads.has(log))
          heads.set(log, (this.#sql.log.get(log)?.head as number | undefined) ?? Number.POSITIVE_INFINITY);
        const fresh = events.filter((event) => event.seq > heads.get(log)!);
        if (fresh.length > 0) left.set(log, [...(left.get(log) ?? []), ...fresh]);
      }
    }
    this.#connection.transaction(() => {
      for (const [log, events] of left) this.#putChunks(log, events);
      this.#sql.clearJournal.run(Number.MAX_SAFE_INTEGER);
    }, 'FULL');
  }

  /** Adds a log's events to the row of the present commit. */
  add(log: number, first: number, events: readonly StoredEvent[]): void {
    this.#text += encodeGroup({ log, first, events });
  }

  /** Writes the row, if it has any events. */
  write(): void {
    if (this.#text !== '') this.#sql.putJournal.run(this.#id + 1, this.#text);
  }

  /** The commit was made. */
  committed(): void {
    if (this.#text !== '') this.#id += 1;
    this.#chars += this.#text.length;
    this.#text = '';
    if ((this.#chars >= JOURNAL_CHARS || this.#outdated) && !this.#moving) this.#move();
  }

  /** Has everything moved with the next commit, since events that are in the journal were rewritten in chunks. */
  outdate(): void {
    this.#outdated = true;
  }

  /** The commit was not made. */
  failed(): void {
    this.#text = '';
  }

  #move(): void {
    this.#moving = true;
    this.#outdated = false;
    const last = this.#id;
    const chars = this.#chars;
    const logs = this.#live.unchunked();
    const next = (): void => void setImmediate(() => this.#connection.disk.free().then(step));
    const step = (): void => {
      if (!this.#moving) return;
      try {
        this.chunk(logs.splice(0, SLICE).filter((log) => log.live));
        if (logs.length > 0) return next();
        this.#connection.transaction(() => this.#sql.clearJournal.run(last));
        this.#chars -= chars;
      } catch {
        // The events stay safe in the journal, and the next commit tries again.
        this.#moving = false;
        this.#outdated = true;
        return;
      }
      this.#moving = false;
      if (this.#outdated) this.#move();
    };
    next();
  }

  /** Moves the tails of logs into chunks, in a transaction of its own. */
  chunk(logs: readonly LogState[]): void {
    const undo = logs.map((log) => log.mark());
    try {
      this.#connection.transaction(() => {
        for (const log of logs) this.chunkTail(log);
      });
    } catch (error) {
      for (const back of undo) back();
      throw error;
    }
  }

  /** Moves a log's tail into chunks, within a transaction. */
  chunkTail(log: LogState): void {
    if (log.tail.length > 0) this.#putChunks(log.id, log.tail);
    log.chunked = log.head;
    log.tail = [];
  }

  #putChunks(log: number, events: readonly StoredEvent[]): void {
    for (let start = 0; start < events.length; ) {
      let end = start;
      for (let chars = 0; end < events.length && end - start < CHUNK.events && chars < CHUNK.chars; end++) {
        chars += events[end]!.body.length;
      }
      const slice = events.slice(start, end);
      this.#sql.putChunk.run(log, slice[0]!.seq, slice.at(-1)!.seq, encodeEvents(slice), sizeOf(slice));
      start = end;
    }
    this.#sql.moveHead.run(events.at(-1)!.seq, sizeOf(events), log);
  }

  /** Moves everything, so that the next opening finds an empty journal. */
  empty(): void {
    this.#moving = false;
    this.chunk(this.#live.unchunked());
    this.#connection.transaction(() => this.#sql.clearJournal.run(this.#id), 'FULL');
    this.#chars = 0;
  }
}
