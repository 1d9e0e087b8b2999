import { isPlain, type News, StoreError } from '../../server/stores/append.js';
import type { Member, Membership, SharedStore } from '../../server/stores/shared-store.js';
import type { Acquired, Store } from '../../server/stores/store.js';
import type { LogHead, SessionRef, StoredEvent } from '../../server/stores/stored.js';
import type { GatewayEvent } from '../../shared/events.js';
import { ForgetfulMemory, keyOf } from './forgetful-memory.js';
import { type Gate, gate } from './gate.js';

/** What becomes of a message from one member to another. */
export type MailFate = 'come' | 'lose';

/** One node of a hub, as a gateway sees it, and what a test does to it. */
export interface HubNode {
  readonly store: Store;
  /** By which the others know it, once it has joined. */
  readonly holder: string;
  /** It ends without a word: nothing of it reaches the store or the others, and its lease runs out. */
  kill(): void;
  /** It stands still, its lease runs out, and others may take what it held. */
  freeze(): void;
  /** It goes on where it stood. @param told Whether it is told that it may have passed for dead. @default true */
  thaw(told?: boolean): void;
  /** It reaches neither the store nor the others, for less than its lease. */
  cut(): void;
  /** It reaches them again. */
  reconnect(): void;
}

interface Watch {
  /** Of its node. */
  readonly mark: object;
  readonly wake: (news?: News) => void;
}

/** A store in this process that several gateways share, each through a node of its own: the model of a cluster without a network. */
export class MemoryHub {
  readonly #memory = new ForgetfulMemory();
  readonly #inner = this.#memory.store;
  readonly #members = new Map<string, { readonly member: Member; isAlive: boolean; isDead: boolean }>();
  readonly #holders = new Map<string, string>();
  /** Of the sessions that were ever taken. */
  readonly #refs = new Map<string, SessionRef>();
  readonly #watches = new Map<string, Watch[]>();
  readonly leaseMs: number;
  /** How often somebody looked for what nobody holds. */
  looks = 0;
  /** Decides what becomes of a message. */
  mail: (from: string, to: string) => MailFate = () => 'come';
  /** How many turns of the event loop a wake is on its way. */
  wakeTurns: () => number = () => 0;

  constructor({ leaseMs = 200 }: { readonly leaseMs?: number } = {}) {
    this.leaseMs = leaseMs;
  }

  /** Who holds a session of this name. */
  holderOf(name: string): string {
    return [...this.#holders].find(([key]) => key.endsWith(`:${name}`))?.[1] ?? '';
  }

  /** How many watch a session of this name. */
  watches(name: string): number {
    return [...this.#watches].find(([key]) => key.endsWith(`:${name}`))?.[1].length ?? 0;
  }

  /** It loses the last batches of a session, as an engine does that had not written them to its disk. @returns How many it was */
  forget(name: string, batches: number): number {
    const lost = this.#memory.forget(name, batches);
    if (lost > 0) for (const key of this.#watches.keys()) this.#wake(key);
    return lost;
  }

  /** The events of the present log of a session of this name. */
  eventsOf(name: string): readonly GatewayEvent[] {
    const ref = [...this.#refs.values()].find((each) => each.name === name)!;
    const { epoch } = this.#inner.head(ref) as LogHead;
    const log = { ...ref, epoch };
    const events = this.#inner.read(log, 0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    return (events as readonly StoredEvent[]).map(({ seq, term, type, body }) => ({
      ...{ type, cursor: `${epoch}.${term}.${seq}` },
      ...JSON.parse(body),
    }));
  }

  #wake(key: string, news?: News): void {
    for (const { wake } of this.#watches.get(key) ?? []) void later(this.wakeTurns(), () => wake(news));
  }

  node(): HubNode {
    const members = this.#members;
    let own: { readonly member: Member; isAlive: boolean; isDead: boolean } | null = null;
    let dead = false;
    let ice: Gate | null = null;
    let isCut = false;
    const mark = {};
    const reached = async (): Promise<void> => {
      await ice?.passed;
      if (dead || isCut) throw new StoreError('UNAVAILABLE', 'This node does not reach the store');
    };
    const store = this.#storeOf(mark, reached, async (member) => {
      own = { member, isAlive: true, isDead: false };
      members.set(member.holder, own);
      return this.#membershipOf(member, reached);
    });
    const lapse = (): void => {
      if (own) own.isAlive = false;
    };
    return {
      store,
      get holder() {
        return own?.member.holder ?? '';
      },
      kill() {
        dead = true;
        lapse();
        if (own) own.isDead = true;
        ice?.open();
      },
      freeze() {
        ice = gate();
        lapse();
        if (own) own.isDead = true;
      },
      thaw(told = true) {
        if (own) Object.assign(own, { isAlive: true, isDead: false });
        ice?.open();
        ice = null;
        if (told) own?.member.lapsed();
      },
      cut() {
        isCut = true;
        if (own) own.isDead = true;
      },
      reconnect: () => {
        isCut = false;
        if (own) own.isDead = false;
        // It may have been deaf.
        for (const watch of [...this.#watches.values()].flat()) if (watch.mark === mark) watch.wake();
      },
    };
  }

  #membershipOf({ holder }: Member, reached: () => Promise<void>): Membership {
    return {
      members: async () => {
        await reached();
        return [...this.#members].filter(([, { isAlive }]) => isAlive).map(([name]) => name);
      },
      tell: async (to, message) => {
        await reached();
        const other = this.#members.get(to);
        if (!other || other.isDead) return false;
        if (this.mail(holder, to) === 'come') setImmediate(() => other.isDead || other.member.hear(message));
        return true;
      },
      leave: () => void this.#members.delete(holder),
    };
  }

  #storeOf(mark: object, reached: () => Promise<void>, join: SharedStore['join']): Store {
    const inner = this.#inner;
    const holders = this.#holders;
    const acquire: Store['acquire'] = async (ref, options) => {
      await reached();
      const key = keyOf(ref);
      this.#refs.set(key, ref);
      const holder = holders.get(key) ?? '';
      const free = holder === '' || holder === options.holder || holder === options.from;
      // Of the memory store, which answers at once: nobody comes between the look and the taking.
      const head = inner.head(ref) as LogHead | null;
      if (head && !head.closed && !free) return { kind: 'owned', holder };
      const { taken: _, ...rest } = options;
      const acquired = inner.acquire(ref, rest) as Acquired;
      if (acquired.kind === 'acquired') holders.set(key, options.holder);
      return acquired;
    };
    const release: Store['release'] = async (ref, term) => {
      await reached();
      if ((await inner.head(ref))?.term === term) holders.delete(keyOf(ref));
      return inner.release(ref, term);
    };
    const unfinished: Store['unfinished'] = async () => {
      await reached();
      this.looks += 1;
      return (await inner.unfinished())
        .map((ref) => ({ ...ref, from: holders.get(keyOf(ref)) ?? '' }))
        .filter(({ from }) => !this.#members.get(from)?.isAlive);
    };
    const append: Store['append'] = async (log, events, options) => {
      await reached();
      const appended = await inner.append(log, events, options);
      const { epoch, first } = appended;
      const told = events.map((event, i) => ({ ...event, seq: first + i, term: options.term }));
      this.#wake(keyOf(log), isPlain(options) && told.length > 0 ? { epoch, events: told } : undefined);
      return appended;
    };
    const remove: Store['remove'] = async (ref) => {
      await reached();
      await inner.remove(ref);
      this.#wake(keyOf(ref));
    };
    const watch: Store['watch'] = (ref, wake) => {
      const key = keyOf(ref);
      const own = { mark, wake };
      this.#watches.set(key, [...(this.#watches.get(key) ?? []), own]);
      // As a store with a network, which wakes once it hears others.
      void later(this.wakeTurns(), () => this.#watches.get(key)?.includes(own) && wake());
      return () => {
        const left = (this.#watches.get(key) ?? []).filter((other) => other !== own);
        if (left.length > 0) this.#watches.set(key, left);
        else this.#watches.delete(key);
      };
    };
    const shared: SharedStore = {
      leaseMs: this.leaseMs,
      skewMs: 0,
      join,
      held: async ({ limit, after, holder }) => {
        await reached();
        const from = after ? keyOf(after) : '';
        return [...holders]
          .filter(([key, by]) => key > from && by !== '' && (holder === undefined || by === holder))
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, by]) => ({ ...this.#refs.get(key)!, holder: by }))
          .filter((ref) => (inner.head(ref) as LogHead | null)?.closed === false)
          .slice(0, limit);
      },
    };
    const own: Partial<Store> = { acquire, release, append, remove, unfinished, watch, shared };
    return new Proxy(inner, {
      get(target, name: keyof Store) {
        if (name in own) return own[name];
        const member = target[name];
        if (typeof member !== 'function') return member;
        if (name === 'open' || name === 'close') return () => {};
        return async (...args: never[]) => {
          await reached();
          return (member as (...all: never[]) => unknown).apply(target, args);
        };
      },
      has: (target, name) => name in own || name in target,
    });
  }
}

async function later(turns: number, wake: () => void): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise(setImmediate);
  wake();
}
