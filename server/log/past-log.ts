import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { Store } from '../stores/store.js';
import type { LogHead, LogRef, SessionRef, StoredEvent } from '../stores/stored.js';
import { type ReadableLog, termAt } from './readable-log.js';

/** A closed log that is still kept. It is only read. */
class PastLog implements ReadableLog {
  readonly ref: LogRef;
  readonly first: number;
  readonly head: number;
  readonly #store: Store;
  readonly #terms: LogHead['terms'];

  constructor(store: Store, ref: LogRef, head: LogHead) {
    this.#store = store;
    this.ref = ref;
    this.first = head.first;
    this.head = head.head;
    this.#terms = head.terms;
  }

  termAt(seq: number): number {
    return termAt(this.#terms, seq);
  }

  read(after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]> {
    return this.#store.read(this.ref, after, limit, bytes);
  }
}

/**
 * The conversation that followed an epoch's under the same key, or the first one that is kept. Null if there is none. `gone` if the store
 * no longer has the epoch's either.
 */
export function openNextLog(
  store: Store,
  ref: SessionRef,
  { after, present }: { readonly after: string | null; readonly present: ReadableLog | null },
): MaybePromise<ReadableLog | 'gone' | null> {
  return andThen(store.conversations(ref), (epochs): MaybePromise<ReadableLog | 'gone' | null> => {
    if (epochs.length === 0) return after === null ? null : 'gone';
    // For a dropped epoch, indexOf is -1, and every kept conversation is a later one.
    const next = epochs[after === null ? 0 : epochs.indexOf(after) + 1];
    if (next === undefined) return null;
    return next === present?.ref.epoch ? present : openPastLog(store, ref, next);
  });
}

/** The last closed conversation under a key that is kept; null if there is none. */
export async function openLastLog(store: Store, ref: SessionRef): Promise<ReadableLog | null> {
  const last = (await store.conversations(ref)).at(-1);
  return last === undefined ? null : openPastLog(store, ref, last);
}

/** Opens a closed log for reading; null if it is not kept or still open. */
export async function openPastLog(store: Store, ref: SessionRef, epoch: string): Promise<ReadableLog | null> {
  const head = await store.head(ref, epoch);
  return head?.closed ? new PastLog(store, { ...ref, epoch }, head) : null;
}
