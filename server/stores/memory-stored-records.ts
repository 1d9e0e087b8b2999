import {
  homeOf,
  type RecordChange,
  type RecordHome,
  type RecordName,
  type RecordQuery,
  recordWith,
  type StoredRecord,
  type Taken,
  type TakeOptions,
  Tokens,
  textOfHome,
} from './records.js';

/** The due time of a record. Valid only while the record still has this token. */
interface Due {
  readonly at: number;
  readonly home: string;
  readonly key: string;
  readonly token: number;
}

const keyOf = ({ kind, id }: RecordName): string => JSON.stringify([kind, id]);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The records of a store that keeps them in this process. */
export class StoredRecords {
  readonly #homes = new Map<string, Map<string, StoredRecord>>();
  /** The records of each owner, by their kinds. */
  readonly #owned = new Map<string, Map<string, Set<StoredRecord>>>();
  readonly #due = new DueQueue();
  readonly #tokens = new Tokens();

  /** Scopes that have records. */
  get scopes(): Iterable<string> {
    return new Set([...this.#homes.keys()].map((home) => homeOf(home).scope));
  }

  /** Whether all of these changes may be made. */
  allows(home: RecordHome, changes: readonly RecordChange[]): boolean {
    const kept = this.#homes.get(textOfHome(home));
    return changes.every(
      (change) => change.token === undefined || (kept?.get(keyOf(change))?.token ?? 0) === change.token,
    );
  }

  change(home: RecordHome, changes: readonly RecordChange[]): void {
    const text = textOfHome(home);
    const kept = this.#homes.get(text) ?? new Map<string, StoredRecord>();
    for (const change of changes) {
      const key = keyOf(change);
      if (change.value === undefined) {
        this.#disown(kept.get(key));
        kept.delete(key);
      } else this.#keep(text, kept, key, change as RecordChange & { readonly value: string });
    }
    if (kept.size > 0) this.#homes.set(text, kept);
    else this.#homes.delete(text);
  }

  #keep(
    home: string,
    kept: Map<string, StoredRecord>,
    key: string,
    { kind, id, owner, dueAt, value }: RecordChange & { readonly value: string },
  ): StoredRecord {
    const before = kept.get(key);
    const token = this.#tokens.after(before?.token ?? 0);
    const record = recordWith({ home: homeOf(home), kind, id, value, token }, owner, dueAt);
    kept.set(key, record);
    this.#disown(before);
    if (owner !== undefined) this.#own(owner, record);
    if (dueAt !== undefined) this.#due.add({ at: dueAt, home, key, token });
    return record;
  }

  #own(owner: string, record: StoredRecord): void {
    let kinds = this.#owned.get(owner);
    if (!kinds) {
      kinds = new Map();
      this.#owned.set(owner, kinds);
    }
    const records = kinds.get(record.kind);
    if (records) records.add(record);
    else kinds.set(record.kind, new Set([record]));
  }

  #disown(record: StoredRecord | undefined): void {
    if (record?.owner === undefined) return;
    const { owner, kind } = record;
    const kinds = this.#owned.get(owner);
    const records = kinds?.get(kind);
    records?.delete(record);
    if (records?.size === 0) kinds!.delete(kind);
    if (kinds?.size === 0) this.#owned.delete(owner);
  }

  list(query: RecordQuery): readonly StoredRecord[] {
    if (query.id !== undefined) {
      const record = this.#homes.get(textOfHome(query.home))?.get(keyOf(query));
      return record ? [record] : [];
    }
    if ('home' in query) return this.#ofHome(query.home, query.kind, query.after).slice(0, query.limit);
    return this.#ofOwner(query);
  }

  #ofHome(home: RecordHome, kind: string | undefined, after: RecordName | undefined): StoredRecord[] {
    const kept = [...(this.#homes.get(textOfHome(home))?.values() ?? [])];
    const byName = (a: RecordName, b: RecordName): number => compare(a.kind, b.kind) || compare(a.id, b.id);
    return kept
      .filter(
        (record) => (kind === undefined || record.kind === kind) && (!after || byName(record, after) > 0),
      )
      .sort(byName);
  }

  #ofOwner({ owner, kind, after, limit }: Extract<RecordQuery, { readonly owner: string }>): StoredRecord[] {
    const placed = [...(this.#owned.get(owner)?.get(kind) ?? [])].map((record) => ({
      home: textOfHome(record.home),
      record,
    }));
    type Placed = (typeof placed)[number];
    const order = (a: Placed, b: Placed): number =>
      compare(a.home, b.home) || compare(a.record.id, b.record.id);
    const first = after && { home: textOfHome(after.home), record: after as StoredRecord };
    const behind = first ? placed.filter((one) => order(one, first) > 0) : placed;
    return behind
      .sort(order)
      .slice(0, limit)
      .map(({ record }) => record);
  }

  take({ limit, leaseMs, aheadMs = 0 }: TakeOptions): Taken {
    const now = Date.now() + aheadMs;
    const records: StoredRecord[] = [];
    let next = this.#next();
    while (next && next.at <= now && records.length < limit) {
      this.#due.shift();
      const kept = this.#homes.get(next.home)!;
      const record = kept.get(next.key)!;
      const { token } = this.#keep(next.home, kept, next.key, { ...record, dueAt: now + leaseMs });
      records.push({ ...record, token });
      next = this.#next();
    }
    return { records, nextAt: next?.at ?? null, now };
  }

  /** The record that is due first, without entries of records that were changed since. */
  #next(): Due | undefined {
    for (;;) {
      const due = this.#due.first;
      if (!due || this.#homes.get(due.home)?.get(due.key)?.token === due.token) return due;
      this.#due.shift();
    }
  }

  /** Drops all of a home. */
  drop(home: RecordHome): void {
    const text = textOfHome(home);
    for (const record of this.#homes.get(text)?.values() ?? []) this.#disown(record);
    this.#homes.delete(text);
  }
}

/** A binary heap with the earliest due time at its top. */
class DueQueue {
  readonly #heap: Due[] = [];

  get first(): Due | undefined {
    return this.#heap[0];
  }

  add(due: Due): void {
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (heap[above]!.at <= due.at) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = due;
  }

  shift(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.at < heap[below]!.at) below += 1;
      if (heap[below]!.at >= last.at) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
  }
}
