import type { About } from './about.js';
import type { MemoryRuns } from './memory-runs.js';
import { MessageRows } from './message-rows.js';
import {
  type Activity,
  type Checkpoint,
  type ForkedFrom,
  IDLE,
  type SessionRef,
  type StoredEvent,
} from './store.js';

/** What the sessions of one scope share. */
export interface MemoryScope {
  readonly name: string;
  readonly open: Set<MemorySession>;
  /** Of all its logs, in characters. */
  size: number;
}

/** A class, as what is visited for each event: the fields of an object that was put together by spreading lie apart from it. */
export class MemoryLog {
  readonly scope: MemoryScope;
  readonly epoch: string;
  first = 1;
  events: StoredEvent[] = [];
  terms: { term: number; first: number }[] = [];
  /** Number of the last batch of the present term; 0 before the first. */
  batch = 0;
  /** Its first event. */
  batchFirst = 1;
  checkpoint: Checkpoint | null = null;
  messages = new MessageRows();
  closedAt: number | null = null;
  activity: Activity = IDLE;
  /** Of its events and messages, in characters. */
  size = 0;
  /** Dropped by `expire`; only the runs of its session are still kept. */
  expired = false;

  constructor(scope: MemoryScope, epoch: string) {
    this.scope = scope;
    this.epoch = epoch;
  }
}

export interface MemorySession {
  readonly ref: SessionRef;
  /** Order of creation, for lists. */
  ordinal: number;
  createdAt: number;
  /** When it was last used. */
  updatedAt: number;
  userId: string | undefined;
  forkedFrom: ForkedFrom | undefined;
  about: About;
  term: number;
  /** Tells the present writer that it is not that any more. */
  taken: (() => void) | null;
  log: MemoryLog;
  /** Logs of closed incarnations, by epoch. */
  past: ReadonlyMap<string, MemoryLog>;
  readonly runs: MemoryRuns;
  /** The one whose place it took that was erased: its last batch is answered where it comes again. */
  erased: MemorySession | null;
  /** What was done `once`, by when, the oldest first; null for nothing. */
  done: Map<string, number> | null;
}

export const NO_LOGS: ReadonlyMap<string, MemoryLog> = new Map();

/** A log has become longer, or shorter. @param by In characters */
export function grow(log: MemoryLog, by: number): void {
  log.size += by;
  log.scope.size += by;
}
