import * as z from 'zod';
import type { Budget } from '../../../shared/budgets/options.js';
import { idOf, newId } from '../../ids.js';
import { kind } from '../../records/kind.js';
import type { Store } from '../../stores/store.js';
import { type Account, PAST_MS } from './usage-records.js';

/** Parts of a limit that were told, each once for its account. They are forgotten with its sums. */
export const TOLD = kind<{
  readonly owner: string;
  readonly at: number;
  readonly by: string;
  readonly due?: number;
}>({
  ...{ name: 'budget-told', endsWith: 'time' },
  schema: z.object({ owner: z.string(), at: z.number(), by: z.string(), due: z.number().exactOptional() }),
  ownerOf: ({ owner }) => owner,
  dueOf: ({ due }) => due,
});

/** A part, as far as this gateway knows. It is `open` where the store did not say whether it has it. */
interface KnownPart {
  /** The name under which it is written, by which it is known again. */
  readonly by: string;
  state: 'open' | 'under way' | 'told';
}

const MOST = 10_000;

/** Which parts of limits were told, by which gateway ever. */
export class ToldParts {
  readonly #store: Store;
  readonly #known = new Map<string, KnownPart>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether it is known here that a part of a limit was told. */
  isTold(budget: Budget, { owner }: Account, mark: number): boolean {
    return this.#known.get(toldId(owner, mark, budget))?.state === 'told';
  }

  /**
   * Whether the caller is the one who tells it. A caller to whom this was not said asks again.
   *
   * @throws StoreError
   */
  async take(budget: Budget, account: Account, mark: number): Promise<boolean> {
    const { owner, home, until } = account;
    const id = toldId(owner, mark, budget);
    const part = this.#known.get(id) ?? this.#begin(id);
    if (part.state !== 'open') return false;
    part.state = 'under way';
    try {
      const { by } = part;
      const value = { owner, at: mark, by, ...(until !== undefined && { due: until + PAST_MS }) };
      const isTaken =
        (await this.#store.changeRecords(home, [TOLD.put(id, value, { token: 0 })])) ||
        // The answer to an earlier call may have been lost.
        (await TOLD.one(this.#store, home, id))?.value.by === by;
      part.state = 'told';
      return isTaken;
    } finally {
      if (part.state === 'under way') part.state = 'open';
    }
  }

  #begin(id: string): KnownPart {
    if (this.#known.size >= MOST) this.#known.clear();
    const part: KnownPart = { by: newId('told'), state: 'open' };
    this.#known.set(id, part);
    return part;
  }
}

const toldId = (owner: string, mark: number, { limit }: Budget): string =>
  idOf(owner, mark, JSON.stringify(limit));
