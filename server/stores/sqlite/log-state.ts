import type { About } from '../about.js';
import type { AppendResult } from '../append.js';
import {
  type Activity,
  type ForkedFrom,
  IDLE,
  type LogHead,
  type SessionRecord,
  type SessionRef,
  type StoredEvent,
} from '../stored.js';
import { fromColumn } from '../text-column.js';
import type { SqliteRow } from './driver.js';

/** The activity of a session as a column. Idle sessions are found by the plain word. */
export function encodeActivity(activity: Activity): string {
  return activity.status === 'idle' ? 'idle' : JSON.stringify(activity);
}

function decodeActivity(text: string): Activity {
  return text === 'idle' ? IDLE : (JSON.parse(text) as Activity);
}

function decodeAbout(row: SqliteRow): About {
  const { title, metadata, archived, preview, messages, pending, failed, arrivals } = row;
  return {
    ...(title !== null && { title: fromColumn(title as string) }),
    ...(metadata !== null && { metadata: JSON.parse(metadata as string) }),
    ...(archived === 1 && { archived: true }),
    ...(preview !== null && { preview: fromColumn(preview as string) }),
    messageCount: messages as number,
    pending: pending as number,
    ...(failed === 1 && { failed: true }),
    ...(arrivals !== null && { arrivals: JSON.parse(arrivals as string) }),
  };
}

/** A log that is held for writing. Between commits it equals the database; a failed commit restores it. */
export class LogState {
  readonly ref: SessionRef;
  readonly id: number;
  readonly session: number;
  readonly epoch: string;
  readonly userId: string | null;
  readonly createdAt: number;
  readonly forkedFrom: ForkedFrom | null;
  term = 0;
  terms: { readonly term: number; readonly first: number }[];
  /** Whether `term` has been written. */
  termKept = false;
  first: number;
  head: number;
  /** Events up to here are in chunks; later ones are in `tail`. */
  chunked: number;
  tail: StoredEvent[] = [];
  batch: { readonly number: number; readonly result: AppendResult } | null = null;
  closed: boolean;
  /** Its session was dropped. The rest of this state answers a repeated last batch. */
  erased = false;
  activity: Activity;
  about: About;
  /** When its session was last used. */
  usedAt: number;
  /** Resolves once the last writes that were not answered are on the disk; null if there are none. */
  syncing: Promise<void> | null = null;
  /** False once nobody in this process holds it. */
  live = true;
  /** The size of its events and messages, in characters. */
  size: number;
  /** The part of the size that `Usage` already counts. */
  countedSize: number;
  #taken: (() => void) | undefined;

  constructor(ref: SessionRef, row: SqliteRow, terms: readonly SqliteRow[]) {
    this.ref = { scope: ref.scope, app: ref.app, name: ref.name };
    this.id = row.id as number;
    this.session = row.session as number;
    this.epoch = row.epoch as string;
    this.userId = row.user_id === null ? null : fromColumn(row.user_id as string);
    this.createdAt = row.created as number;
    this.forkedFrom = row.forked_from === null ? null : (JSON.parse(row.forked_from as string) as ForkedFrom);
    this.about = decodeAbout(row);
    this.usedAt = row.used as number;
    this.closed = row.closed !== null;
    this.activity = decodeActivity(row.activity as string);
    this.first = row.first as number;
    this.head = row.head as number;
    this.chunked = this.head;
    this.size = row.size as number;
    this.countedSize = this.size;
    this.terms = terms.map((term) => ({ term: term.term as number, first: term.first as number }));
  }

  /** Takes the log under a new term. @param taken Called when the next holder takes it */
  acquire(term: number, taken?: () => void): void {
    if (this.#taken) setImmediate(this.#taken);
    this.#taken = taken;
    if (this.term !== 0 && !this.termKept) this.terms.pop();
    this.term = term;
    this.termKept = this.terms.at(-1)?.term === term;
    if (!this.termKept) this.terms = [...this.terms, { term, first: this.head + 1 }];
    this.batch = null;
  }

  /** Returns a function that restores this state after a failed commit. */
  mark(): () => void {
    const { termKept, head, chunked, tail, batch, closed, erased, activity, about, usedAt, size } = this;
    const { length } = tail;
    return () => {
      Object.assign(this, {
        termKept,
        head,
        chunked,
        tail,
        batch,
        closed,
        erased,
        activity,
        about,
        usedAt,
        size,
      });
      tail.length = length;
    };
  }

  describe(): LogHead {
    const { epoch, term, first, head, terms, closed, activity } = this;
    return { epoch, term: term || (terms.at(-1)?.term ?? 0), first, head, terms, closed, activity };
  }

  record(): SessionRecord {
    const { ref, epoch, createdAt, usedAt: updatedAt, closed, userId, activity, about, forkedFrom } = this;
    return {
      ref,
      epoch,
      createdAt,
      updatedAt,
      closed,
      ...about,
      activity,
      ...(forkedFrom && { forkedFrom }),
      ...(userId !== null && { userId }),
    };
  }
}
