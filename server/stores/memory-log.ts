import type { About } from './about.js';
import type { MemoryRuns } from './memory-runs.js';
import type { UseOrder } from './memory-use-order.js';
import { MessageRows } from './message-rows.js';
import { PackedEvents } from './packed-events.js';
import { bodiesOf, type Rewrites } from './rewrites.js';
import type { CopiedLog } from './store.js';
import { type Activity, type Checkpoint, type ForkedFrom, IDLE, type SessionRef } from './stored.js';

/** State that the sessions of one scope share. */
export interface MemoryScope {
  readonly name: string;
  readonly open: UseOrder;
  /** Size of all logs of the scope, in characters. */
  size: number;
}

/** One log in memory. It is a class because every event visits it, and V8 stores the fields of a spread object apart from the object. */
export class MemoryLog {
  readonly scope: MemoryScope;
  readonly epoch: string;
  events = new PackedEvents();
  terms: { term: number; first: number }[] = [];
  /** Number of the last batch of the present term; 0 before the first. */
  batch = 0;
  /** Place of that batch's first event. */
  batchFirst = 1;
  checkpoint: Checkpoint | null = null;
  messages = new MessageRows();
  closedAt: number | null = null;
  activity: Activity = IDLE;
  /** Size of the log's events and messages, in characters. */
  size = 0;

  constructor(scope: MemoryScope, epoch: string, { after }: Pick<CopiedLog, 'after'> = { after: 0 }) {
    this.scope = scope;
    if (after > 0) this.events = PackedEvents.behind(after);
    this.epoch = epoch;
  }
}

export interface MemorySession {
  readonly ref: SessionRef;
  /** Order of creation, for lists. */
  ordinal: number;
  createdAt: number;
  /** Time of the last use, in milliseconds since the epoch. */
  updatedAt: number;
  /** Its neighbours among the open sessions of its scope, by last use. */
  usedAfter: MemorySession | null;
  usedBefore: MemorySession | null;
  userId: string | undefined;
  forkedFrom: ForkedFrom | undefined;
  about: About;
  term: number;
  /** Tells the present writer that another one took the session. */
  taken: (() => void) | null;
  log: MemoryLog;
  /** Logs of closed incarnations, by epoch. */
  past: ReadonlyMap<string, MemoryLog>;
  readonly runs: MemoryRuns;
  /** The erased session before this one. It still answers a repeat of its last batch. */
  erased: MemorySession | null;
}

export const NO_LOGS: ReadonlyMap<string, MemoryLog> = new Map();

/** Adds to the size of a log and its scope. @param by Characters, negative if the log became smaller */
export function grow(log: MemoryLog, by: number): void {
  log.size += by;
  log.scope.size += by;
}

/** Has earlier events, and the checkpoint, say something else. */
export function rewrite(log: MemoryLog, rewrites: Rewrites): void {
  grow(log, log.events.rewrite(bodiesOf(rewrites).bodies));
  const { checkpoint } = rewrites;
  if (checkpoint && log.checkpoint?.seq === checkpoint.seq) log.checkpoint = checkpoint;
}
