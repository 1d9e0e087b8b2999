import type { MaybePromise } from '../async/maybe-promise.js';
import type { LogHead, LogRef, StoredEvent } from '../stores/store.js';

/** What a subscriber needs of a log: where it stands, and a way to read it. */
export interface ReadableLog {
  readonly ref: LogRef;
  readonly first: number;
  readonly head: number;
  /** What was seen of it here is not what the store has: it lost the end of it. Whoever reads it finds its place anew. */
  readonly isReplaced?: boolean;
  /** The term in which `seq` was written; the last writer's for a place before the first event. */
  termAt(seq: number): number;
  read(after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]>;
}

/** The term in which a sequence number was written. */
export function termAt(terms: LogHead['terms'], seq: number): number {
  for (let i = terms.length - 1; i >= 0; i--) if (terms[i]!.first <= seq) return terms[i]!.term;
  return terms[0]?.term ?? 0;
}
