import type { LogRef } from '../stored.js';
import type { SentBatch } from './appending.js';

/** Limits of the batches that are kept to be written again, for one log and for all logs, in characters. */
const MOST_OF_A_LOG = 256 * 1024;
const MOST_OF_ALL = 64 * 1024 * 1024;

/** A batch that Redis took. */
export interface KeptBatch {
  readonly number: number;
  readonly sent: SentBatch;
  /** The last time Redis took it, by the process's clock. */
  at: number;
  readonly size: number;
}

/** The way a log was taken, so that it can be taken again. */
export interface TakenLog {
  /** The last time Redis gave the log, by the process's clock. */
  at: number;
  /** Sends the same request again, with the term that Redis gave the first time. @returns Whether Redis accepted it */
  again(): Promise<boolean>;
}

/** A log that is written here, or was until recently. */
export interface HeldLog {
  readonly log: LogRef;
  readonly sid: string;
  readonly term: number;
  /** The log's place among logs that were used at the same time. */
  readonly ordinal: string;
  /** Null once it is too old. */
  taking: TakenLog | null;
  /** Called when another writer of this process takes the log. */
  readonly taken: (() => void) | undefined;
  /** The last batches that Redis took, in order. */
  readonly kept: KeptBatch[];
  keptSize: number;
  /** Number of the last batch. */
  written: number;
  /** The time when it was let go, by the process's clock. */
  endedAt: number | null;
}

/** The logs that are written here, and the last batches of each. Redis may forget these, and is then sent them again. */
export class HeldLogs {
  readonly #healMs: number;
  readonly #logs = new Map<string, HeldLog>();
  /** Logs that were let go, in that order: Redis may forget that too. */
  readonly #ended: HeldLog[] = [];
  #size = 0;

  constructor(healMs: number) {
    this.#healMs = healMs;
  }

  add(held: Omit<HeldLog, 'kept' | 'keptSize' | 'written' | 'endedAt'>): void {
    const before = this.#logs.get(held.sid);
    if (before) {
      this.#empty(before);
      if (before.taken && before.endedAt === null) setImmediate(before.taken);
    }
    this.#logs.set(held.sid, { ...held, kept: [], keptSize: 0, written: 0, endedAt: null });
  }

  /** The log of a session, if it is written under this term. */
  get(sid: string, term: number): HeldLog | undefined {
    const held = this.#logs.get(sid);
    return held?.term === term ? held : undefined;
  }

  /** Lets the log go: it was closed, erased or released. */
  end(sid: string, term: number): void {
    const held = this.get(sid, term);
    if (!held || held.endedAt !== null) return;
    held.endedAt = performance.now();
    this.#ended.push(held);
    this.#forgetEnded();
  }

  #forgetEnded(): void {
    const oldest = performance.now() - this.#healMs;
    let count = 0;
    for (const held of this.#ended) {
      if (held.endedAt! > oldest) break;
      count += 1;
      this.#empty(held);
      if (this.#logs.get(held.sid) === held) this.#logs.delete(held.sid);
    }
    this.#ended.splice(0, count);
  }

  clear(): void {
    this.#logs.clear();
    this.#ended.length = 0;
    this.#size = 0;
  }

  /** Redis has taken a batch. */
  keep(held: HeldLog, number: number, sent: SentBatch): void {
    if (number <= held.written) return;
    held.written = number;
    if (this.#healMs === 0 || this.#logs.get(held.sid) !== held) return;
    const size = sent.args.reduce((sum, { length }) => sum + length, 0);
    held.kept.push({ number, sent, at: performance.now(), size });
    held.keptSize += size;
    this.#size += size;
    this.#trim(held);
    if (this.#size > MOST_OF_ALL) for (const other of this.#logs.values()) this.#trim(other);
    if (this.#size > MOST_OF_ALL) this.#empty(held);
  }

  #trim(held: HeldLog): void {
    const oldest = performance.now() - this.#healMs;
    if (held.taking && held.taking.at < oldest) held.taking = null;
    let count = 0;
    for (const { at, size } of held.kept) {
      if (at >= oldest && held.keptSize <= MOST_OF_A_LOG) break;
      held.keptSize -= size;
      this.#size -= size;
      count += 1;
    }
    if (count > 0) held.kept.splice(0, count);
  }

  #empty(held: HeldLog): void {
    this.#size -= held.keptSize;
    held.keptSize = 0;
    held.kept.length = 0;
  }

  /** The batches to write again after a batch, in order; null if one of them is no longer kept. */
  behind(held: HeldLog, number: number): readonly KeptBatch[] | null {
    const batches = held.kept.filter((batch) => batch.number > number);
    const isKnown = held.written <= number || batches[0]?.number === number + 1;
    return isKnown ? batches : null;
  }

  /** Whether the log can be taken again as before, because all later batches are kept. */
  canRetake(held: HeldLog): held is HeldLog & { taking: TakenLog } {
    this.#trim(held);
    return held.taking !== null && this.behind(held, 0) !== null;
  }

  /** Logs of which Redis may have forgotten something that is kept here. */
  recent(): readonly HeldLog[] {
    this.#forgetEnded();
    const all = [...this.#logs.values()];
    for (const held of all) this.#trim(held);
    return all.filter((held) => held.kept.length > 0 || held.taking !== null || held.endedAt !== null);
  }
}
