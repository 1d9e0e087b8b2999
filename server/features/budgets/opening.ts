import type { Budget } from '../../../shared/budgets/options.js';
import { fieldError } from '../../../shared/errors.js';
import type { Errands } from '../../cluster/errands.js';
import { errand } from '../../cluster/errands.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { FeatureGateway } from '../../operations/feature.js';
import { recordsOf } from '../../records/owned.js';
import type { SessionRef } from '../../stores/stored.js';
import { BUDGETS_HOME, type Budgets, SET_BUDGETS } from './budgets.js';
import { budgetSchema } from './config.js';
import { WAITING, waitersOf } from './recording.js';

declare module '../../sessions/session-work.js' {
  interface SessionWork {
    /** Lets a run go on whose budget may have room again. It asks again if it has none. */
    'budget-opened': { readonly input: { readonly callId: string }; readonly output: void };
  }
}

/** Tells the other gateways that budgets have changed. */
const CHANGED = errand<null, void>('budgets-changed');

/** Changes budgets at run time, at all gateways of a store. */
export class BudgetSetter {
  readonly #gateway: Pick<FeatureGateway, 'store' | 'sessions' | 'report'>;
  readonly #budgets: Budgets;
  #errands: Errands | null = null;

  constructor(gateway: Pick<FeatureGateway, 'store' | 'sessions' | 'report'>, budgets: Budgets) {
    this.#gateway = gateway;
    this.#budgets = budgets;
  }

  join(errands: Errands): void {
    this.#errands = errands;
    errands.on(CHANGED, () => this.#budgets.load());
  }

  /** @throws GatewayError `INVALID_PARAMS` for a budget that cannot be kept, `OVERLOADED` */
  async set(budget: Budget): Promise<void> {
    const { success, error, data } = budgetSchema.safeParse(budget);
    if (!success) {
      const [issue] = error.issues;
      throw fieldError(issue!.path.join('.') || 'budget', issue!.message);
    }
    const change = SET_BUDGETS.put(budget.name, data as Budget);
    await asUnavailable(() => this.#gateway.store.changeRecords(BUDGETS_HOME, [change]));
    await this.#changed(budget.name);
  }

  async unset(name: string): Promise<void> {
    await asUnavailable(() => this.#gateway.store.changeRecords(BUDGETS_HOME, [SET_BUDGETS.drop(name)]));
    await this.#changed(name);
  }

  async #open(ref: SessionRef, callId: string): Promise<void> {
    const { sessions, report } = this.#gateway;
    try {
      await sessions().perform(ref, { type: 'budget-opened', callId });
    } catch (error) {
      report(error, 'going on with a run whose budget has changed');
    }
  }

  /** Has every run that waits for a budget ask again. */
  async #changed(name: string): Promise<void> {
    const { store, report } = this.#gateway;
    await asUnavailable(() => this.#budgets.load());
    await this.#errands
      ?.askAll(CHANGED, null)
      .catch((error: unknown) => report(error, 'telling of a budget'));
    await asUnavailable(async () => {
      for await (const { home, id: callId } of recordsOf(store, {
        owner: waitersOf(name),
        kind: WAITING.name,
      }))
        await this.#open(home as SessionRef, callId);
    });
  }
}
