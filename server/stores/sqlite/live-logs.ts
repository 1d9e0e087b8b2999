import { keyOf } from '../ref-key.js';
import type { LogRef, SessionRef } from '../stored.js';
import type { LogState } from './log-state.js';

/** The number of closed logs whose repeated last batch is still answered. */
const CLOSED = 256;

/** The logs that are held for writing in this process. */
export class LiveLogs {
  /** The logs that were closed last, the oldest first. */
  readonly #closed = new Map<string, LogState>();
  readonly #logs = new Map<string, LogState>();
  // A writer appends under one and the same ref object. Finding its log by text would cost more than the append.
  readonly #writers = new WeakMap<SessionRef, LogState>();

  /** The present log of a session, if it is held. */
  get(ref: SessionRef): LogState | undefined {
    const known = this.#writers.get(ref);
    if (known?.live) return known;
    const log = this.#logs.get(keyOf(ref));
    if (log) this.#writers.set(ref, log);
    return log;
  }

  /** The log that a ref names, if it is held. */
  find(ref: LogRef): LogState | undefined {
    const log = this.get(ref);
    return log?.epoch === ref.epoch ? log : undefined;
  }

  /** The log that a ref names and that was closed here lately. */
  closed(ref: LogRef): LogState | undefined {
    const log = this.#closed.get(keyOf(ref));
    return log?.epoch === ref.epoch ? log : undefined;
  }

  add(log: LogState): void {
    this.#logs.set(keyOf(log.ref), log);
    this.#closed.delete(keyOf(log.ref));
  }

  drop(log: LogState): void {
    log.live = false;
    if (this.#logs.get(keyOf(log.ref)) === log) this.#logs.delete(keyOf(log.ref));
    if (!log.closed) return;
    this.#closed.set(keyOf(log.ref), log);
    if (this.#closed.size > CLOSED) this.#closed.delete(this.#closed.keys().next().value!);
  }

  /** Held logs with events that are not in chunks yet. */
  unchunked(): LogState[] {
    return [...this.#logs.values()].filter((log) => log.tail.length > 0);
  }
}
