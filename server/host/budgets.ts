import type { Budget, GatewayBudgets } from '../../shared/budgets/options.js';
import type { FeatureOperator } from '../../shared/features.js';

/** Does an act of the host on what has this id or name, and notes it. */
type Acts = (act: string, by: string | undefined, name: unknown, work: () => Promise<void>) => Promise<void>;

/** The budgets of a gateway, for host code. */
export const budgetsOf = (features: () => Promise<FeatureOperator>, acts: Acts): GatewayBudgets => ({
  list: async () => (await features()).budgets(),
  set: (budget, { by } = {}) =>
    acts('set-budget', by, (budget as Budget | undefined)?.name, async () =>
      (await features()).setBudget(budget),
    ),
  unset: (name, { by } = {}) =>
    acts('unset-budget', by, name, async () => (await features()).unsetBudget(name)),
});
