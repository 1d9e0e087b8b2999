import { StoreError } from '../append.js';
import {
  homeOf,
  putsInSession,
  type RecordChange,
  type RecordHome,
  type RecordName,
  type RecordQuery,
  recordWith,
  type StoredRecord,
  type Taken,
  type TakeOptions,
} from '../records.js';
import { type Keys, PARTITIONS, pairOf } from './keys.js';
import type { Link } from './link.js';
import { CHANGE, DUE, FORGET, HINT, TAKE } from './scripts/records.js';

/** Milliseconds between searches for due records whose hint was lost with a gateway. Hints are in another partition than the records. */
const SWEEP_MS = 60_000;

const nameOf = ({ kind, id }: RecordName): string => JSON.stringify([kind, id]);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A record as it is stored, in JSON. Large numbers are text. */
interface RecordRow {
  readonly token?: string;
  readonly dueAt?: string;
  /** JSON, as `value`: raw text may have half a pair of surrogates, which Redis does not read. */
  readonly owner?: string;
  readonly value: string;
}

/** Changes as scripts read them. One without a row drops the record. */
export function encodeChanges(changes: readonly RecordChange[]) {
  return changes.map(({ owner, dueAt, value, token, ...name }) => ({
    name: nameOf(name),
    token: token?.toString(),
    row: value === undefined ? undefined : { dueAt: dueAt?.toFixed(), owner: JSON.stringify(owner), value },
  }));
}

/** Whose records of a kind a home has, or had. */
interface ListedOwner {
  readonly kind: string;
  readonly owner: string;
}

/** The limits, records and failures of a take in progress. */
interface DueTake {
  readonly limit: number;
  readonly lease: number;
  readonly ahead: number;
  readonly records: StoredRecord[];
  readonly failures: StoreError[];
}

/** Names of due records by their homes. @param found The reply of `DUE` */
function byHome(found: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>();
  for (const member of found.slice(0, -2).filter((_, i) => i % 2 === 0)) {
    const [home, name] = pairOf(member);
    homes.set(home, [...(homes.get(home) ?? []), name]);
  }
  return homes;
}

/** The owners of records, each once. */
function listed(records: readonly StoredRecord[]): readonly ListedOwner[] {
  const owned = records.flatMap(({ kind, owner }) => (owner === undefined ? [] : [{ kind, owner }]));
  return [...new Map(owned.map((one) => [JSON.stringify([one.kind, one.owner]), one])).values()];
}

/** The name that `nameOf` wrote. */
function namedBy(name: string): RecordName {
  const [kind, id] = JSON.parse(name) as [string, string];
  return { kind, id };
}

function recordOf(home: RecordHome, name: string, row: string): StoredRecord {
  const { kind, id } = namedBy(name);
  const { token, dueAt, owner, value } = JSON.parse(row) as RecordRow;
  const whose = owner === undefined ? null : (JSON.parse(owner) as string);
  const due = dueAt === undefined ? null : Number(dueAt);
  return recordWith({ home, kind, id, value, token: Number(token) }, whose, due);
}

/** Typed rows beside the logs. */
export class RedisRecords {
  readonly #link: Link;
  readonly #keys: Keys;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(link: Link, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  async change(home: RecordHome, changes: readonly RecordChange[]): Promise<boolean> {
    const keys = this.#keys.home(home);
    const leaving = await this.announce(home, changes);
    const needsLog = putsInSession(home, changes) ? 1 : 0;
    const args = { home: keys.home, changes: JSON.stringify(encodeChanges(changes)), needsLog };
    const done = await this.#link.run(CHANGE.call(keys, args), true);
    await this.hint(home, changes, leaving);
    return done === 1;
  }

  /**
   * Announces where an owner may have records, and when one may be due, before they exist.
   *
   * @returns Whose records the changes drop, for `hint`
   * @throws StoreError `UNAVAILABLE`: nothing was changed
   */
  async announce(home: RecordHome, changes: readonly RecordChange[]): Promise<readonly ListedOwner[]> {
    try {
      await this.#enlist(home, changes);
      await this.#say(home, changes);
      const drops = changes.filter(({ value }) => value === undefined);
      return drops.length === 0 ? [] : await this.#ownersOf(home, drops);
    } catch (cause) {
      throw new StoreError('UNAVAILABLE', 'Redis did not take the place of a record in its lists', { cause });
    }
  }

  /** Announces the partition's due time again, now that the records exist, and forgets where owners have none any more. */
  async hint(
    home: RecordHome,
    changes: readonly RecordChange[],
    leaving: readonly ListedOwner[] = [],
  ): Promise<void> {
    // A reader that found no record meanwhile has taken the home off the list.
    void this.#enlist(home, changes).catch(() => {});
    // `announce` has said it before. If another change has withdrawn it, the next sweep finds it.
    await this.#say(home, changes).catch(() => {});
    await this.forget(home, leaving);
  }

  /** Puts a home on the lists of the owners whose records it gets. Each time counts, so that `forget` sees that it was put there again. */
  async #enlist(home: RecordHome, changes: readonly RecordChange[]): Promise<void> {
    const { home: text } = this.#keys.home(home);
    for (const { kind, owner, value } of changes) {
      if (owner === undefined || value === undefined) continue;
      const key = this.#keys.owner(kind, owner);
      await this.#link.send(key, ['ZINCRBY', key, '1', text]);
    }
  }

  /** Whose records a home has: all, or those that are named. */
  async #ownersOf(home: RecordHome, named: readonly RecordName[]): Promise<readonly ListedOwner[]> {
    return listed(await this.#of(home, named));
  }

  /** Whose records a home has, for `forget` when all are dropped. */
  async owners(home: RecordHome): Promise<readonly ListedOwner[]> {
    return listed(await this.#all(home));
  }

  /** Takes a home off the lists of owners who have no record there any more. The next reader of the list does the rest after a failure. */
  async forget(home: RecordHome, owners: readonly ListedOwner[]): Promise<void> {
    const { home: text } = this.#keys.home(home);
    await Promise.all(
      owners.map(async ({ kind, owner }) => {
        const key = this.#keys.owner(kind, owner);
        const seen = (await this.#link.send(key, ['ZSCORE', key, text])) as string | null;
        if (seen === null) return;
        const isThere = listed(await this.#all(home)).some((one) => one.kind === kind && one.owner === owner);
        if (!isThere) await this.#link.run(FORGET.call({ list: key }, { home: text, seen }));
      }),
    ).catch(() => {});
  }

  async #say(home: RecordHome, changes: readonly RecordChange[]): Promise<void> {
    const times = changes.flatMap(({ dueAt, value }) =>
      dueAt === undefined || value === undefined ? [] : [Math.round(dueAt)],
    );
    if (times.length === 0) return;
    const { due } = this.#keys;
    const part = String(this.#keys.home(home).partition);
    await this.#link.send(due, ['ZADD', due, 'LT', String(Math.min(...times)), part]);
  }

  async list(query: RecordQuery): Promise<readonly StoredRecord[]> {
    if (query.id !== undefined) return this.#named(query.home, query);
    return 'home' in query ? this.#ofHome(query) : this.#ofOwner(query);
  }

  async #named(home: RecordHome, { kind, id }: RecordName): Promise<StoredRecord[]> {
    const { records } = this.#keys.home(home);
    const name = nameOf({ kind, id });
    const row = (await this.#link.send(records, ['HGET', records, name])) as string | null;
    return row === null ? [] : [recordOf(home, name, row)];
  }

  async #all(home: RecordHome): Promise<StoredRecord[]> {
    const { records } = this.#keys.home(home);
    const pairs = (await this.#link.send(records, ['HGETALL', records])) as string[];
    return pairs.flatMap((name, i) => (i % 2 === 0 ? [recordOf(home, name, pairs[i + 1]!)] : []));
  }

  /** Reads the names of all records of a home, and then those that are asked for: a home may have many of other kinds. */
  async #ofHome({ home, kind, after, limit }: Extract<RecordQuery, { readonly home: RecordHome }>) {
    const order = (a: RecordName, b: RecordName): number => compare(a.kind, b.kind) || compare(a.id, b.id);
    const { records } = this.#keys.home(home);
    const all = (await this.#link.send(records, ['HKEYS', records])) as string[];
    const names = all
      .map(namedBy)
      .filter((name) => (kind === undefined || name.kind === kind) && (!after || order(name, after) > 0))
      .sort(order);
    const found: StoredRecord[] = [];
    // One that was dropped meanwhile makes room for the next.
    for (let from = 0; from < names.length && found.length < limit; from += limit)
      found.push(...(await this.#of(home, names.slice(from, from + limit))));
    return found.slice(0, limit);
  }

  async #of(home: RecordHome, named: readonly RecordName[]): Promise<StoredRecord[]> {
    if (named.length === 0) return [];
    const { records } = this.#keys.home(home);
    const names = named.map(nameOf);
    const rows = (await this.#link.send(records, ['HMGET', records, ...names])) as (string | null)[];
    return rows.flatMap((row, i) => (row === null ? [] : [recordOf(home, names[i]!, row)]));
  }

  async #ofOwner({ owner, kind, after, limit }: Extract<RecordQuery, { readonly owner: string }>) {
    const key = this.#keys.owner(kind, owner);
    const from = after ? this.#keys.home(after.home).home : '';
    const homes = (await this.#link.send(key, ['ZRANGE', key, '0', '-1'])) as string[];
    const found: StoredRecord[] = [];
    for (const text of homes.filter((home) => home >= from).sort(compare)) {
      if (found.length >= limit) break;
      const home = homeOf(text);
      const ofKind = await this.#ofHome({ home, kind, limit: Number.MAX_SAFE_INTEGER });
      const own = ofKind.filter((record) => record.owner === owner);
      if (own.length === 0) await this.forget(home, [{ kind, owner }]);
      const records = own.filter(({ id }) => text !== from || id > after!.id);
      found.push(...records.sort((a, b) => compare(a.id, b.id)));
    }
    return found.slice(0, limit);
  }

  async take({ limit, leaseMs, aheadMs = 0 }: TakeOptions): Promise<Taken> {
    await this.#sweep();
    const ahead = Math.round(aheadMs);
    const due = (await this.#link.run(DUE.call(this.#keys, { ahead, limit: PARTITIONS }))) as string[];
    const taking: DueTake = { limit, lease: Math.ceil(leaseMs), ahead, records: [], failures: [] };
    const nexts = [due.at(-2)!];
    for (let i = 0; i + 3 < due.length; i += 2) {
      const isOver = taking.records.length >= limit || taking.failures.length > 0;
      nexts.push(isOver ? due[i + 1]! : await this.#takeOf(due[i]!, due[i + 1]!, taking));
    }
    const { records, failures } = taking;
    // A failure does not discard records that were taken.
    if (records.length === 0 && failures.length > 0)
      throw failures.find(({ code }) => code === 'UNKNOWN') ?? failures[0]!;
    const times = nexts.filter((at) => at !== '').map(Number);
    const nextAt = times.length > 0 ? Math.min(...times) : null;
    return { records: records.sort((a, b) => a.dueAt! - b.dueAt!), nextAt, now: Number(due.at(-1)) };
  }

  /** Takes the due records of a partition. @returns The time when the next is due there, '' for never */
  async #takeOf(part: string, seen: string, taking: DueTake): Promise<string> {
    const { due } = this.#keys.partition(Number(part));
    const { ahead, records } = taking;
    try {
      const limit = taking.limit - records.length;
      const found = (await this.#link.run(DUE.call({ due }, { ahead, limit }))) as string[];
      await Promise.all([...byHome(found)].map(([home, names]) => this.#takeOfHome(home, names, taking)));
      const next = await this.#nextOf(due);
      await this.#link.run(HINT.call(this.#keys, { part, seen, at: next }));
      return next;
    } catch (error) {
      taking.failures.push(error as StoreError);
      return seen;
    }
  }

  async #takeOfHome(text: string, names: readonly string[], taking: DueTake): Promise<void> {
    const { lease, ahead, records, failures } = taking;
    const home = homeOf(text);
    const keys = this.#keys.home(home);
    try {
      const call = TAKE.call(keys, { home: text, lease, ahead }, { args: names });
      // A repetition would find them taken, and report none.
      const taken = (await this.#link.run(call, true)) as string[];
      for (let i = 0; i < taken.length; i += 2) records.push(recordOf(home, taken[i]!, taken[i + 1]!));
    } catch (error) {
      failures.push(error as StoreError);
    }
  }

  async #nextOf(due: string): Promise<string> {
    const [, at = ''] = (await this.#link.send(due, ['ZRANGE', due, '0', '0', 'WITHSCORES'])) as string[];
    return String(at);
  }

  async #sweep(): Promise<void> {
    if (performance.now() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = performance.now();
    const { due } = this.#keys;
    const parts = Array.from({ length: PARTITIONS }, (_, part) => part);
    await Promise.all(
      parts.map(async (part) => {
        const next = await this.#nextOf(this.#keys.partition(part).due);
        if (next !== '') await this.#link.send(due, ['ZADD', due, 'LT', next, String(part)]);
      }),
    );
  }
}
