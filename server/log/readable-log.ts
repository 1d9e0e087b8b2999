import type { MaybePromise } from '../async/maybe-promise.js';
import type { LogHead, LogRef, StoredEvent } from '../stores/stored.js';

/** The reading side of a log, as subscribers use it. */
export interface ReadableLog {
  readonly ref: LogRef;
  readonly first: number;
  readonly head: number;
  /** The store lost the tail of this log. Subscribers must resolve their cursor again. */
  readonly isReplaced?: boolean;
  /** The term in which `seq` was written. Before the first event, the last writer's term. */
  termAt(seq: number): number;
  read(after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]>;
}

/** The term in which a sequence number was written. */
export function termAt(terms: LogHead['terms'], seq: number): number {
  for (let i = terms.length - 1; i >= 0; i--) if (terms[i]!.first <= seq) return terms[i]!.term;
  return terms[0]?.term ?? 0;
}
