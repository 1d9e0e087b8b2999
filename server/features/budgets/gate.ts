import type { BudgetState } from '../../../shared/budgets/contract.js';
import { GatewayError } from '../../../shared/errors.js';
import type { Confirmation } from '../../apps/application.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { RunGate } from '../../held/gates.js';
import type { HeldSession } from '../../held/held-session.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { AdmittedSend } from '../../operations/feature.js';
import type { Ending } from '../../runs/ending.js';
import type { LiveRun } from '../../runs/live-run.js';
import type { Hindrance } from '../../runs/run-port.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import { type Budgets, type Draw, partSpent, type Spent, stateOf } from './budgets.js';
import { factsOf, rootOf } from './facts.js';
import type { Ledger } from './ledger.js';
import { isQuestion, OPENED, opened, QUESTION } from './question.js';
import { SpentReader } from './spent-reader.js';
import { ToldParts } from './told-parts.js';

/** Asks of each run that draws from a budget whether it may go on. */
export class BudgetGate {
  readonly #budgets: Budgets;
  readonly #spent: SpentReader;
  readonly #told: ToldParts;
  readonly #store: Store;
  /** The accounts from which runs may draw beyond the limit, since a person has said so. */
  readonly #passed = new WeakMap<HeldSession, Set<string>>();

  constructor(budgets: Budgets, ledger: Ledger, store: Store) {
    this.#budgets = budgets;
    this.#spent = new SpentReader(ledger, store);
    this.#told = new ToldParts(store);
    this.#store = store;
  }

  /** Asked before the app of a run is called, and before each of its calls that costs. */
  readonly ask: RunGate = (held, run) => {
    if (this.#budgets.isLoaded) return this.#ask(held, run);
    return this.#load().then(() => this.#ask(held, run));
  };

  async #load(): Promise<void> {
    await asUnavailable(() => this.#budgets.load());
  }

  #ask(held: HeldSession, run: LiveRun): MaybePromise<Hindrance | null> {
    if (this.#budgets.all.length === 0) return null;
    const { ref, id: sessionId, log } = held;
    const root = rootOf(log.state, run.id);
    const facts = factsOf({ ref, sessionId, root }, run.request);
    const draws = this.#budgets.of(facts, storeTime(this.#store));
    for (const draw of draws) {
      const spent = this.#spent.known(draw, held);
      if (spent === null || this.#hasNews(draw, spent)) return this.#judge(held, run, draws, root);
    }
    return null;
  }

  /** Whether there may be something to tell, or to do, of the spent amounts. */
  #hasNews({ budget, account, marks }: Draw, spent: Spent): boolean {
    const part = partSpent(budget, spent, true);
    return part >= 1 || marks.some((mark) => part >= mark && !this.#told.isTold(budget, account, mark));
  }

  async #judge(
    held: HeldSession,
    run: LiveRun,
    draws: readonly Draw[],
    root: string,
  ): Promise<Hindrance | null> {
    const spent = await Promise.all(
      draws.map((draw) => this.#spent.known(draw, held) ?? this.#spent.reserved(draw, held)),
    );
    await Promise.all(draws.map((draw, i) => this.#tell(held, run, draw, spent[i]!)));
    let stops: Hindrance | null = null;
    for (const [i, draw] of draws.entries()) {
      const { budget, account } = draw;
      if (budget.reached === 'warn' || partSpent(budget, spent[i]!, true) < 1) continue;
      if (budget.reached === 'stop') stops ??= { ending: endingOf(stateOf(draw, spent[i]!)) };
      else if (!this.#passed.get(held)?.has(JSON.stringify([root, account.owner])))
        stops ??= this.#question(held, draw, stateOf(draw, spent[i]!), root);
    }
    return stops;
  }

  #question(
    held: HeldSession,
    { budget, account, opensAt }: Draw,
    state: BudgetState,
    root: string,
  ): Hindrance {
    const { question: policy = {} } = budget;
    const leftMs = opensAt === null ? Number.POSITIVE_INFINITY : opensAt - storeTime(this.#store);
    const opensFirst = leftMs < (policy.expiresInMs ?? Number.POSITIVE_INFINITY);
    const { escalate, ...asked } = policy;
    return {
      ask: {
        ...{ name: QUESTION, input: { budget: budget.name, until: opensAt }, message: wordsOf(state) },
        ...{ approvals: 1, ...asked },
        // The run goes on by itself once the budget opens.
        ...(opensFirst && { expiresInMs: Math.max(1, leftMs), onExpiry: 'approve' as const }),
        ...(escalate && (!opensFirst || escalate.afterMs < leftMs) && { escalate }),
      },
      answered: ({ approved, expired, reason }: Confirmation) => {
        // Otherwise it is asked again whether there is room.
        if (approved && !expired && reason !== OPENED)
          this.#pass(held, budget.name, { root, owner: account.owner });
        return approved;
      },
      ending: endingOf(state),
    };
  }

  #pass(
    held: HeldSession,
    budget: string,
    { root, owner }: { readonly root: string; readonly owner: string },
  ): void {
    const passed = this.#passed.get(held) ?? new Set();
    this.#passed.set(held, passed.add(JSON.stringify([root, owner])));
    const { state } = held.log;
    // Other runs of the tree may ask the same: one answer is for all.
    for (const asked of state.pending) {
      const { budget: name } = asked.input as { readonly budget?: string };
      if (isQuestion(asked) && name === budget && rootOf(state, asked.runId ?? '') === root)
        void opened(held, asked).catch(() => {});
    }
  }

  /** Tells what nobody was told before of a draw. */
  async #tell({ log }: HeldSession, run: LiveRun, draw: Draw, spent: Spent): Promise<void> {
    const { budget, account, marks } = draw;
    const part = partSpent(budget, spent, true);
    for (const mark of marks) {
      if (part < mark || !(await this.#told.take(budget, account, mark))) continue;
      // A run that has ended meanwhile has no more events.
      const isOver = run.state === 'ended';
      const base = { ...(!isOver && { runId: run.id }), ts: Date.now(), ...stateOf(draw, spent) };
      log.append(
        mark < 1 ? { type: 'budget_warned', ...base, at: mark } : { type: 'budget_reached', ...base },
      );
    }
  }

  /** @throws GatewayError `BUDGET_EXHAUSTED` if a budget that stops is used up */
  readonly admits = ({ reach, caller }: AdmittedSend): MaybePromise<void> => {
    if (!this.#budgets.isLoaded) return this.#load().then(() => this.admits({ reach, caller }));
    if (!this.#budgets.all.some(({ reached }) => reached === 'stop')) return;
    return this.#admit(reach, caller);
  };

  async #admit({ ref, via }: AdmittedSend['reach'], { person }: AdmittedSend['caller']): Promise<void> {
    const { user, link } = person;
    const grant = via && { id: via.grantId, ...(link && { givenBy: link.givenBy }) };
    const facts = factsOf({ ref, sessionId: '', root: '' }, { user, grant });
    const now = storeTime(this.#store);
    for (const draw of this.#budgets.of(facts, now)) {
      const { budget, opensAt } = draw;
      if (budget.reached !== 'stop' || budget.period === 'run') continue;
      const spent = this.#spent.known(draw, null) ?? (await this.#spent.admitted(draw));
      if (partSpent(budget, spent, false) < 1) continue;
      throw new GatewayError({
        ...{ code: 'BUDGET_EXHAUSTED', message: wordsOf(stateOf(draw, spent)) },
        details: stateOf(draw, spent),
        ...(opensAt !== null && { retryAfterMs: Math.max(1, opensAt - now) }),
      });
    }
  }
}

/** The end of a run whose budget is used up. */
function endingOf(state: BudgetState): Ending {
  const message = wordsOf(state);
  return { stopReason: 'budget', reason: message, error: { code: 'BUDGET_EXHAUSTED', message } };
}

/** The words about a budget that is used up. */
function wordsOf({ budget, spent, limit, opensAt }: BudgetState): string {
  const parts = [
    ...(limit.cost === undefined ? [] : [`${spent.cost} of ${limit.cost} ${limit.currency ?? 'USD'}`]),
    ...(limit.tokens === undefined ? [] : [`${spent.tokens} of ${limit.tokens} tokens`]),
    ...(limit.runs === undefined ? [] : [`${spent.runs} of ${limit.runs} runs`]),
  ];
  const opens = opensAt === null ? '' : `; it opens again at ${new Date(opensAt).toISOString()}`;
  return `The budget ${budget} is used up: ${parts.join(', ')}${opens}`;
}
