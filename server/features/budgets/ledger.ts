import type { Kept } from '../../records/kind.js';
import { recordsOf } from '../../records/owned.js';
import { homeOf, type RecordChange, type RecordHome, textOfHome } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import { type Counted, grouped, NOTHING, plus, type Sums } from './counts.js';
import { Fresh } from './fresh.js';
import {
  ACCOUNTS,
  type Account,
  accountOf,
  HEADS,
  headId,
  type KeptSum,
  type KeptUse,
  nameOfUse,
  PAST_MS,
  PERSONS,
  SUMS,
  sumId,
  USES,
} from './usage-records.js';

/** Most uses that one change adds to the sums. */
const AT_ONCE = 500;

/** Most accounts whose totals are known without a reading. */
const MOST_KNOWN = 10_000;

/** Totals in each currency, and in none. */
export type Totals = ReadonlyMap<string | null, Sums>;

/** The totals of an account as they were read at a time of this process, with what this gateway has written since. */
interface KnownTotals {
  readonly at: number;
  readonly totals: Map<string | null, Sums>;
}

function addTo(totals: Map<string | null, Sums>, { by: { currency }, sums }: Counted): void {
  totals.set(currency, plus(totals.get(currency) ?? NOTHING, sums));
}

function totalsOf(all: Iterable<Counted>): Map<string | null, Sums> {
  const totals = new Map<string | null, Sums>();
  for (const one of all) addTo(totals, one);
  return totals;
}

type SumStore = Pick<Store, 'records' | 'changeRecords'>;

/** The sums of accounts. Uses are written with their events, and join the sums later; both together are exact at any time. */
export class Ledger {
  readonly #store: SumStore;
  readonly #keptMs: number | undefined;
  readonly #adding = new Map<string, Promise<boolean>>();
  /** The first of those uses of an account that this gateway has added last, and dropped. */
  readonly #dropped = new Map<string, string>();
  readonly #readings = new Fresh<readonly Counted[]>();
  readonly #known = new Map<string, KnownTotals>();
  /** The uses that this gateway writes while it reads, by the ids of their records. A reading may have them or not. */
  readonly #during = new Map<string, Map<string, Counted>>();

  constructor(store: SumStore, keptMs?: number) {
    this.#store = store;
    this.#keptMs = keptMs;
  }

  /** All that an account has, read after this call. Callers at the same time share a reading. @throws StoreError */
  of(account: Account): Promise<readonly Counted[]> {
    return this.#readings.get(account.owner, () => this.#read(account));
  }

  /** The total of an account in each currency, and in none. */
  async totals(account: Account): Promise<Totals> {
    return totalsOf(await this.of(account));
  }

  /** The totals of an account as this gateway knows them without a reading; null if it knows none. */
  known({ owner }: Account): KnownTotals | null {
    return this.#known.get(owner) ?? null;
  }

  /** Adds a use that this gateway has written to what it knows. @param id The id of its record */
  written(id: string, { owner, by, sums }: KeptUse): void {
    this.#during.get(owner)?.set(id, { by, sums });
    const known = this.#known.get(owner);
    if (known) addTo(known.totals, { by, sums });
  }

  /** Forgets what it knows, for an erasure. */
  forget(): void {
    this.#known.clear();
  }

  async #read(account: Account): Promise<readonly Counted[]> {
    const { owner } = account;
    const during = new Map<string, Counted>();
    this.#during.set(owner, during);
    try {
      const { all, apart } = await this.#readAll(account);
      for (const id of apart) during.delete(id);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(owner, { at: performance.now(), totals: totalsOf([...all, ...during.values()]) });
      return all;
    } finally {
      this.#during.delete(owner);
    }
  }

  async #readAll({
    owner,
    home,
  }: Account): Promise<{ readonly all: readonly Counted[]; readonly apart: readonly string[] }> {
    for (;;) {
      const before = await HEADS.at(this.#store, home, headId(owner));
      const [sums, uses] = await Promise.all([this.#sums(owner), this.#uses(owner)]);
      const after = await HEADS.at(this.#store, home, headId(owner));
      // Uses have joined the sums meanwhile.
      if (before.token !== after.token) continue;
      const added = new Set(after.kept?.value.added);
      const apart = uses.filter(({ home: of, id }) => !added.has(nameOfUse(of, id)));
      return { all: [...sums, ...apart.map(({ value }) => value)], apart: uses.map(({ id }) => id) };
    }
  }

  async #sums(owner: string): Promise<readonly Counted[]> {
    const sums: Counted[] = [];
    for await (const record of recordsOf(this.#store, { owner, kind: SUMS.name })) {
      const kept = SUMS.read(record);
      if (kept) sums.push(kept.value);
    }
    return sums;
  }

  async #uses(owner: string, most = Number.POSITIVE_INFINITY): Promise<readonly Kept<KeptUse>[]> {
    const uses: Kept<KeptUse>[] = [];
    for await (const record of recordsOf(this.#store, { owner, kind: USES.name })) {
      const kept = USES.read(record);
      if (kept) uses.push(kept);
      if (uses.length >= most) break;
    }
    return uses;
  }

  /**
   * Adds the uses of an account to its sums. Work on one account is shared.
   *
   * @returns false if another gateway has done so meanwhile
   */
  add(account: Account, now: number): Promise<boolean> {
    const { owner } = account;
    const before = this.#adding.get(owner);
    if (before) return before;
    const adding = this.#add(account, now).finally(() => this.#adding.delete(owner));
    this.#adding.set(owner, adding);
    return adding;
  }

  async #add(account: Account, now: number): Promise<boolean> {
    const { owner, home, person } = account;
    const due = this.#due(account, now);
    const head = await HEADS.at(this.#store, home, headId(owner));
    const names = head.kept?.value.added ?? [];
    const added = new Set(names);
    const isOurs = names.length > 0 && this.#dropped.get(owner) === names[0];
    const uses = await this.#uses(owner, isOurs ? AT_ONCE : undefined);
    // The process that had added these may not have come to drop them. Only then may the head forget them.
    await this.#drop(uses.filter((use) => added.has(nameOfUse(use.home, use.id))));
    const fresh = uses.filter((use) => !added.has(nameOfUse(use.home, use.id))).slice(0, AT_ONCE);
    if (fresh.length === 0) return true;
    const parts = grouped(fresh.map(({ value: { by, sums } }) => ({ by, sums })));
    const joined = fresh.map((use) => nameOfUse(use.home, use.id));
    const changes: RecordChange[] = [
      HEADS.put(headId(owner), { owner, added: joined, ...due }, { token: head.token }),
    ];
    if (person) changes.push(ACCOUNTS.put('account', { owner }));
    const puts = parts.map(async (part) => {
      const id = sumId(owner, part);
      const { token, kept } = await SUMS.at(this.#store, home, id);
      const sums = plus(kept?.value.sums ?? NOTHING, part.sums);
      return SUMS.put(id, { owner, by: part.by, sums, ...due }, { token });
    });
    changes.push(...(await Promise.all(puts)));
    if (!(await this.#store.changeRecords(home, changes))) return false;
    await this.#drop(fresh);
    if (this.#dropped.size >= MOST_KNOWN) this.#dropped.clear();
    this.#dropped.set(owner, joined[0]!);
    return true;
  }

  /** When the sums that are written now are forgotten. */
  #due({ person, until }: Account, now: number): Pick<KeptSum, 'due'> {
    if (until !== undefined) return { due: until + PAST_MS };
    return person && this.#keptMs !== undefined ? { due: now + this.#keptMs } : {};
  }

  async #drop(uses: readonly Kept<KeptUse>[]): Promise<void> {
    const homes = new Map<string, string[]>();
    for (const { home, id } of uses) {
      const text = textOfHome(home);
      homes.set(text, [...(homes.get(text) ?? []), id]);
    }
    for (const [text, ids] of homes)
      await this.#store.changeRecords(
        homeOf(text),
        ids.map((id) => USES.drop(id)),
      );
  }

  /** Adds all uses of a home to the sums of their accounts, before the home is dropped. */
  async addAllOf(home: RecordHome, now: number): Promise<void> {
    const accounts = new Map<string, Account>();
    for (const { value } of await USES.all(this.#store, home))
      if (value.at !== textOfHome(home)) accounts.set(value.owner, accountOf(value));
    for (const account of accounts.values())
      for (let tries = 0; tries < 10 && !(await this.add(account, now)); tries += 1);
  }

  /**
   * Drops all that is kept of an account which ends.
   *
   * @param kinds The kinds of its records, beside the sums
   * @returns false if another gateway has changed it meanwhile
   */
  async end(account: Account, now: number, kinds: readonly { readonly name: string }[]): Promise<boolean> {
    const { owner, home } = account;
    if (!(await this.add(account, now))) return false;
    const drops: RecordChange[] = [];
    // The head is the first, so that nothing joins the others meanwhile.
    for (const { name: kind } of [HEADS, SUMS, ...kinds])
      for await (const { id, token } of recordsOf(this.#store, { owner, kind }))
        drops.push({ kind, id, token });
    this.#known.delete(owner);
    this.#dropped.delete(owner);
    return drops.length === 0 || this.#store.changeRecords(home, drops);
  }

  /** Notes that a person has an account. */
  async note(key: string): Promise<void> {
    await this.#store.changeRecords({ scope: key }, [ACCOUNTS.put('account', { owner: key })]);
  }

  /** The keys of all persons with accounts. */
  async *persons(): AsyncGenerator<string> {
    for await (const record of recordsOf(this.#store, { owner: PERSONS, kind: ACCOUNTS.name })) {
      const kept = ACCOUNTS.read(record);
      if (kept) yield kept.value.owner;
    }
  }
}
