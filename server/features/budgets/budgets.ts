import type * as z from 'zod';
import type { BudgetAmounts, BudgetState } from '../../../shared/budgets/contract.js';
import type { Budget } from '../../../shared/budgets/options.js';
import { ownKey } from '../../ids.js';
import { kind } from '../../records/kind.js';
import { recordsOf } from '../../records/owned.js';
import { textOfHome } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import { budgetSchema } from './config.js';
import { costOf, partsOf } from './counts.js';
import type { RunFacts } from './facts.js';
import type { Totals } from './ledger.js';
import { type Period, periodAt } from './periods.js';
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
  /** The parts of its limit that are told, in order. */
  readonly marks: readonly number[];
}

/** The budgets of a gateway: those of its configuration, and those that were set for all gateways of its store. */
export class Budgets {
  readonly #given: readonly Budget[];
  readonly #store: Pick<Store, 'records'>;
  #list!: readonly Budget[];
  #subjects!: readonly Subjects[];
  #loading: Promise<void> | null = null;
  #isLoaded = false;

  constructor(given: readonly Budget[], store: Pick<Store, 'records'>) {
    this.#given = given;
    this.#store = store;
    this.#use(given);
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
    this.#use([...this.#given.filter(({ name }) => !set.has(name)), ...set.values()]);
    this.#isLoaded = true;
  }

  #use(list: readonly Budget[]): void {
    this.#list = list;
    this.#subjects = list.map((budget) => new Subjects(budget));
  }

  /** The budgets from which a run draws at a time of the store's clock. */
  of(facts: RunFacts, time: number): readonly Draw[] {
    const draws: Draw[] = [];
    for (const subjects of this.#subjects) {
      const draw = subjects.of(facts, time);
      if (draw) draws.push(draw);
    }
    return draws;
  }
}

/** Most subjects of a budget whose draws are kept. */
const MOST_SUBJECTS = 1000;

/** The draws from one budget, made once for each subject and period. */
class Subjects {
  readonly #budget: Budget;
  readonly #marks: readonly number[];
  readonly #draws = new Map<string, Draw>();

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#marks = [...new Set([...(budget.at ?? [0.8]), 1])].sort((a, b) => a - b);
  }

  /** The draw of a run; null if the budget is not for it. */
  of(facts: RunFacts, time: number): Draw | null {
    const subject = subjectOf(this.#budget, facts);
    if (subject === null) return null;
    const period = periodAt(this.#budget, time, facts.root);
    const name = `${period.key} ${subject}`;
    let draw = this.#draws.get(name);
    if (!draw) {
      if (this.#draws.size >= MOST_SUBJECTS) this.#draws.clear();
      draw = this.#make(facts, subject, period);
      this.#draws.set(name, draw);
    }
    return draw;
  }

  #make(facts: RunFacts, subject: string, { key, until }: Period): Draw {
    const budget = this.#budget;
    const owner = ownKey('budget', budget.name, budget.period, budget.zone ?? '', key, subject);
    const account = { owner, home: homeOf(budget, facts), ...(until !== null && { until }) };
    return { budget, account, opensAt: until, marks: this.#marks };
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

/** Amounts that count for a budget: cost in billionths of its currency. */
export interface Spent {
  readonly cost: number;
  readonly tokens: number;
  readonly runs: number;
}

/** The spent amounts of a budget. */
export function spentOf({ limit }: Budget, totals: Totals): Spent {
  let tokens = 0;
  let runs = 0;
  for (const sums of totals.values()) {
    tokens += sums.input + sums.output;
    runs += sums.runs;
  }
  return { cost: totals.get(limit.currency ?? 'USD')?.cost ?? 0, tokens, runs };
}

const ratio = (amount: number, of: number | undefined): number =>
  of === undefined ? 0 : of > 0 ? amount / of : 1;

/**
 * The part of a budget that is spent: 1 or more once it is used up.
 *
 * @param within Whether a run that is counted asks, which may itself be the last one
 */
export function partSpent({ limit }: Budget, { cost, tokens, runs }: Spent, within: boolean): number {
  const money = ratio(cost, limit.cost === undefined ? undefined : partsOf(limit.cost));
  const part = Math.max(money, ratio(tokens, limit.tokens));
  if (limit.runs === undefined) return part;
  const isOver = within ? runs > limit.runs : runs >= limit.runs;
  const begun = ratio(runs, limit.runs);
  return Math.max(part, isOver ? Math.max(1, begun) : Math.min(0.999, begun));
}

/** A budget as it is told. */
export function stateOf(
  { budget: { name, limit }, opensAt }: Draw,
  { cost, tokens, runs }: Spent,
): BudgetState {
  const spent: BudgetAmounts = {
    ...(limit.cost !== undefined && { cost: costOf(cost), currency: limit.currency ?? 'USD' }),
    ...(limit.tokens !== undefined && { tokens }),
    ...(limit.runs !== undefined && { runs }),
  };
  return { budget: name, spent, limit, opensAt };
}
