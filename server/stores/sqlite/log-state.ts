import {
  type Activity,
  type AppendResult,
  IDLE,
  type LogHead,
  type SessionRecord,
  type SessionRef,
  type StoredEvent,
} from '../store.js';
import type { Row } from './driver.js';

/** The activity of a session as its log's row has it: those that are idle are found by the word. */
export function encodeActivity(activity: Activity): string {
  return activity.status === 'idle' ? 'idle' : JSON.stringify(activity);
}

function decodeActivity(text: string | null): Activity | null {
  if (text === 'idle') return IDLE;
  return text === null ? null : (JSON.parse(text) as Activity);
}

/** A log that is held for writing. Between commits it says what the database has; a failed commit puts it back. */
export class LogState {
  readonly ref: SessionRef;
  readonly id: number;
  readonly session: number;
  readonly epoch: string;
  readonly userId: string | null;
  readonly createdAt: number;
  term = 0;
  terms: { readonly term: number; readonly first: number }[];
  /** Whether `term` has been written. */
  termKept = false;
  first: number;
  head: number;
  /** Up to here events are in chunks; those after it are in `tail`. */
  chunked: number;
  tail: StoredEvent[] = [];
  batch: { readonly number: number; readonly result: AppendResult } | null = null;
  closed: boolean;
  activity: Activity | null;
  updatedAt: number;
  /** False once nobody holds it here. */
  live = true;
  /** Of its events and messages, in characters. */
  size: number;
  /** What of that was told to `Usage`. */
  countedSize: number;
  #taken: (() => void) | undefined;

  constructor(ref: SessionRef, row: Row, terms: readonly Row[]) {
    this.ref = { scope: ref.scope, app: ref.app, name: ref.name };
    this.id = row.id as number;
    this.session = row.session as number;
    this.epoch = row.epoch as string;
    this.userId = row.user_id as string | null;
    this.createdAt = row.created as number;
    this.updatedAt = row.updated as number;
    this.closed = row.closed !== null;
    this.activity = decodeActivity(row.activity as string | null);
    this.first = row.first as number;
    this.head = row.head as number;
    this.chunked = this.head;
    this.size = row.size as number;
    this.countedSize = this.size;
    this.terms = terms.map((term) => ({ term: term.term as number, first: term.first as number }));
  }

  /** Takes the log under a new term. @param taken Called when the next one does */
  acquire(term: number, taken?: () => void): void {
    if (this.#taken) setImmediate(this.#taken);
    this.#taken = taken;
    if (this.term !== 0 && !this.termKept) this.terms.pop();
    this.term = term;
    this.termKept = false;
    this.terms = [...this.terms, { term, first: this.head + 1 }];
    this.batch = null;
  }

  /** What a failed commit has to put back. */
  mark(): () => void {
    const { termKept, head, chunked, tail, batch, closed, activity, updatedAt, size } = this;
    const { length } = tail;
    return () => {
      Object.assign(this, { termKept, head, chunked, tail, batch, closed, activity, updatedAt, size });
      tail.length = length;
    };
  }

  describe(): LogHead {
    const { epoch, term, first, head, terms, closed, activity } = this;
    const place = { epoch, term: term || (terms.at(-1)?.term ?? 0), first, head, terms, closed };
    return activity ? { ...place, activity } : place;
  }

  record(): SessionRecord {
    const { ref, epoch, createdAt, updatedAt, closed, userId, activity } = this;
    const record = { ref, epoch, createdAt, updatedAt, closed, ...(activity && { activity }) };
    return userId === null ? record : { ...record, userId };
  }
}
