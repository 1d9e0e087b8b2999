import type * as z from 'zod';
import type { BudgetAmounts, BudgetState } from '../../../shared/budgets/contract.js';
import type { Budget } from '../../../shared/budgets/options.js';
import { ownKey } from '../../ids.js';
import { kind } from '../../records/kind.js';
import { recordsOf } from '../../records/owned.js';
import { textOfHome } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import { budgetSchema } from './config.js';
import { costOf, NOTHING, partsOf, type Sums } from './counts.js';
import type { RunFacts } from './facts.js';
import { periodAt } from './periods.js';
import type { Account } from './usage-records.js';

/** The home of budgets, and of the sums of those that are of no single person or session. */
export const BUDGETS_HOME = { scope: ownKey('budgets') };

/** Budgets that were set at run time. */
export const SET_BUDGETS = kind<Budget>({
  ...{ name: 'budget', endsWith: 'time' },
  schema: budgetSchema as unknown as z.ZodType<Budget>,
  ownerOf: () => BUDGETS_HOME.scope,
});

/** A budget as it is for one run at a time. */
export interface Draw {
  readonly budget: Budget;
  readonly account: Account;
  readonly opensAt: number | null;
}

/** The budgets of a gateway: those of its configuration, and those that were set for all gateways of its store. */
export class Budgets {
  readonly #given: readonly Budget[];
  readonly #store: Pick<Store, 'records'>;
  #list: readonly Budget[];
  #loading: Promise<void> | null = null;
  #isLoaded = false;

  constructor(given: readonly Budget[], store: Pick<Store, 'records'>) {
    this.#given = given;
    this.#list = given;
    this.#store = store;
  }

  get all(): readonly Budget[] {
    return this.#list;
  }

  /** Whether those that were set at run time are known. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Reads those that were set at run time. @throws StoreError */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const set = new Map<string, Budget>();
    for await (const record of recordsOf(this.#store, {
      owner: BUDGETS_HOME.scope,
      kind: SET_BUDGETS.name,
    })) {
      const kept = SET_BUDGETS.read(record);
      if (kept) set.set(kept.value.name, kept.value);
    }
    this.#list = [...this.#given.filter(({ name }) => !set.has(name)), ...set.values()];
    this.#isLoaded = true;
  }

  /** The budgets from which a run draws at a time of the store's clock. */
  of(facts: RunFacts, time: number): readonly Draw[] {
    return this.#list.flatMap((budget) => {
      const subject = subjectOf(budget, facts);
      if (subject === null) return [];
      const { key, until } = periodAt(budget, time, facts.root);
      const owner = ownKey('budget', budget.name, budget.period, budget.zone ?? '', key, subject);
      const account = { owner, home: homeOf(budget, facts), ...(until !== null && { until }) };
      return [{ budget, account, opensAt: until }];
    });
  }
}

function subjectOf({ per }: Budget, facts: RunFacts): string | null {
  const { ref, sessionId, user, grant, payer, tenant } = facts;
  if (typeof per === 'function')
    return per({ sessionId, app: ref.app, user, ...(grant !== null && { grantId: grant }) });
  switch (per) {
    case 'session':
      return textOfHome(ref);
    case 'person':
      return payer;
    case 'grant':
      return grant;
    case 'tenant':
      return tenant;
    case 'app':
      return ref.app;
  }
}

/** The home of the sums: they are erased with the session or the person that they are of. */
function homeOf({ per, period }: Budget, { ref, payer }: RunFacts): Account['home'] {
  if (per === 'session' || period === 'run') return ref;
  return per === 'person' ? { scope: payer } : BUDGETS_HOME;
}

/** The spent amounts of a budget. */
export function spentOf({ limit }: Budget, totals: ReadonlyMap<string | null, Sums>): BudgetAmounts {
  const currency = limit.currency ?? 'USD';
  let all = NOTHING;
  let tokens = 0;
  for (const sums of totals.values()) {
    tokens += sums.input + sums.output;
    all = { ...all, runs: all.runs + sums.runs };
  }
  return {
    ...(limit.cost !== undefined && { cost: costOf(totals.get(currency)?.cost ?? 0), currency }),
    ...(limit.tokens !== undefined && { tokens }),
    ...(limit.runs !== undefined && { runs: all.runs }),
  };
}

/**
 * The part of a budget that is spent: 1 or more once it is used up.
 *
 * @param within Whether a run that is counted asks, which may itself be the last one
 */
export function partSpent({ limit }: Budget, spent: BudgetAmounts, within: boolean): number {
  const ratio = (amount: number, of: number): number => (of > 0 ? amount / of : 1);
  const parts = [
    limit.cost === undefined ? 0 : ratio(partsOf(spent.cost ?? 0), partsOf(limit.cost)),
    limit.tokens === undefined ? 0 : ratio(spent.tokens ?? 0, limit.tokens),
  ];
  const { runs = 0 } = spent;
  if (limit.runs !== undefined) {
    const isOver = within ? runs > limit.runs : runs >= limit.runs;
    parts.push(isOver ? Math.max(1, ratio(runs, limit.runs)) : Math.min(0.999, ratio(runs, limit.runs)));
  }
  return Math.max(...parts);
}

export const stateOf = ({ budget, opensAt }: Draw, spent: BudgetAmounts): BudgetState => ({
  budget: budget.name,
  ...{ spent, limit: budget.limit, opensAt },
});
