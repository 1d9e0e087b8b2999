import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { HeldSession } from '../../held/held-session.js';
import { idOf, newId } from '../../ids.js';
import { asUnavailable } from '../../log/unavailable.js';
import { kind } from '../../records/kind.js';
import { recordsOf } from '../../records/owned.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import { type Draw, partSpent, type Spent, spentOf } from './budgets.js';
import { Fresh } from './fresh.js';
import type { Ledger } from './ledger.js';
import type { Account } from './usage-records.js';

/** Time for which totals count that were read, in milliseconds, where no other gateway draws from their account. */
const ALONE_MS = 60_000;
/** Time for which a gateway draws from its share, in milliseconds. */
const SHARE_MS = 1000;
/** Time for which the others leave it alone: clocks differ. */
const KEPT_MS = 1500;
/** The part of what is left that one gateway takes. */
const OF_REST = 1 / 4;
/** A smaller part of a limit is not worth its writing. */
const LEAST = 0.002;

const MOST_SHARES = 10_000;

/** The spent amounts of an account as they were read. */
interface FreshSpent {
  readonly spent: Spent;
  /** The time of the store's clock at which to ask again, if nothing is left but shares of others. */
  readonly until: number | null;
}

/** A part of an account's limit that one gateway may draw alone, until a time of the store's clock. */
interface KeptShare {
  readonly owner: string;
  readonly part: number;
  readonly until: number;
}

/** The shares of gateways. One that was killed leaves its own until its time. */
export const SHARES = kind<KeptShare>({
  ...{ name: 'budget-share', endsWith: 'time' },
  schema: z.object({ owner: z.string(), part: z.number(), until: z.number() }),
  ownerOf: ({ owner }) => owner,
  dueOf: ({ until }) => until,
});

/** The share of this gateway. */
interface Share {
  readonly part: number;
  /** Amounts that were spent when it was taken. */
  readonly from: Spent;
  /** Its end, by `performance.now()`. */
  readonly until: number;
}

/** Whether the holder of one session alone draws from an account. */
const isOfSession = ({ home }: Account): boolean => home.name !== undefined;

/**
 * Tells what is spent of budgets, so exactly that each run may make one call by it. A gateway that has taken a share of a limit knows it without a
 * reading, as does one that alone draws from an account.
 */
export class SpentReader {
  readonly #ledger: Ledger;
  readonly #store: Store;
  readonly #gateway = newId('share');
  readonly #shares = new Map<string, Share>();
  readonly #taken = new Fresh<FreshSpent>();
  /** The accounts that were read since a session is held. No other gateway writes to those in its home meanwhile. */
  readonly #own = new WeakMap<HeldSession, Set<string>>();

  constructor(ledger: Ledger, store: Store) {
    this.#ledger = ledger;
    this.#store = store;
  }

  /** The spent amounts, if they are known without a reading. @param held The session that draws */
  known({ budget, account }: Draw, held: HeldSession | null): Spent | null {
    const known = this.#ledger.known(account);
    if (!known) return null;
    const now = performance.now();
    const spent = spentOf(budget, known.totals);
    const isAlone = !this.#store.shared || (held !== null && this.#own.get(held)?.has(account.owner));
    if (isAlone) return now - known.at < ALONE_MS ? spent : null;
    // Nobody is stopped by it.
    if (budget.reached === 'warn') return now - known.at < SHARE_MS ? spent : null;
    const share = this.#shares.get(account.owner);
    if (!share || now >= share.until) return null;
    const { from, part } = share;
    const own = {
      cost: spent.cost - from.cost,
      tokens: spent.tokens - from.tokens,
      runs: spent.runs - from.runs,
    };
    return partSpent(budget, own, true) < part ? spent : null;
  }

  /** The spent amounts, read after this call. @throws GatewayError `OVERLOADED` */
  async read({ budget, account }: Draw): Promise<Spent> {
    return spentOf(budget, await asUnavailable(() => this.#ledger.totals(account)));
  }

  /** The spent amounts for a message that would begin a run, which asks for itself. @throws GatewayError `OVERLOADED` */
  async admitted(draw: Draw): Promise<Spent> {
    if (!this.#isShared(draw)) return this.read(draw);
    return (await this.#taken.get(draw.account.owner, () => this.#take(draw, true))).spent;
  }

  /**
   * The spent amounts by which each run that asks may make a call, even if all other gateways draw as much as they may. Waits for the shares of
   * others, where those are all that is left.
   *
   * @throws GatewayError `OVERLOADED`
   */
  async reserved(draw: Draw, held: HeldSession): Promise<Spent> {
    const { account } = draw;
    if (!this.#isShared(draw)) {
      const spent = await this.read(draw);
      if (isOfSession(account)) this.#own.set(held, (this.#own.get(held) ?? new Set()).add(account.owner));
      return spent;
    }
    for (;;) {
      const { spent, until } = await this.#taken.get(account.owner, () => this.#take(draw, false));
      if (until === null) return spent;
      await delay(Math.max(1, until - storeTime(this.#store)));
    }
  }

  /** Whether other gateways may draw from an account at the same time, and be stopped by it. */
  #isShared({ account, budget }: Draw): boolean {
    return this.#store.shared !== undefined && !isOfSession(account) && budget.reached !== 'warn';
  }

  /**
   * Takes a share, if there is room and it will be asked for again.
   *
   * @param isAsked Whether that is known
   */
  async #take(draw: Draw, isAsked: boolean): Promise<FreshSpent> {
    const { account, budget } = draw;
    const began = performance.now();
    const part = this.#partFor(draw, isAsked, began);
    // It is written before the others' are read: of two who take theirs at once, one sees the other.
    const isWritten =
      part >= LEAST && (await this.#change(account, { part, until: storeTime(this.#store) + KEPT_MS }));
    const [spent, others] = await Promise.all([this.read(draw), this.#others(account)]);
    const whole = partSpent(budget, spent, true);
    const left = 1 - whole - others.reduce((sum, other) => sum + other.part, 0);
    if (isWritten && part <= left) {
      if (this.#shares.size >= MOST_SHARES) this.#shares.clear();
      this.#shares.set(account.owner, { part, from: spent, until: began + SHARE_MS });
      return { spent, until: null };
    }
    this.#shares.delete(account.owner);
    if (isWritten) await this.#change(account, null);
    const isOpen = whole >= 1 || left > 0;
    return { spent, until: isOpen ? null : Math.min(...others.map(({ until }) => until)) };
  }

  /** The part of a limit to take: none for an account that is seldom asked for. */
  #partFor({ account, budget }: Draw, isAsked: boolean, now: number): number {
    const known = this.#ledger.known(account);
    if (!isAsked && (!known || now - known.at > SHARE_MS)) return 0;
    return known ? (1 - partSpent(budget, spentOf(budget, known.totals), true)) * OF_REST : OF_REST;
  }

  /** Writes the share of this gateway, or drops it. A failure counts as none: then each call is a reading, and what is written ends by itself. */
  async #change({ owner, home }: Account, share: Pick<KeptShare, 'part' | 'until'> | null): Promise<boolean> {
    const id = idOf(owner, this.#gateway);
    const change = share ? SHARES.put(id, { owner, ...share }) : SHARES.drop(id);
    try {
      return await this.#store.changeRecords(home, [change], { mayRepeat: true });
    } catch {
      return false;
    }
  }

  async #others({ owner }: Account): Promise<readonly KeptShare[]> {
    const own = idOf(owner, this.#gateway);
    const shares: KeptShare[] = [];
    await asUnavailable(async () => {
      for await (const record of recordsOf(this.#store, { owner, kind: SHARES.name })) {
        const kept = record.id === own ? null : SHARES.read(record);
        if (kept && kept.value.until > storeTime(this.#store)) shares.push(kept.value);
      }
    });
    return shares;
  }
}
