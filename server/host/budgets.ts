import type { GatewayBudgets } from '../../shared/budgets/options.js';
import type { FeatureOperator } from '../../shared/features.js';

/** The budgets of a gateway, for host code. */
export const budgetsOf = (features: () => Promise<FeatureOperator>): GatewayBudgets => ({
  list: async () => (await features()).budgets(),
  set: async (budget) => (await features()).setBudget(budget),
  unset: async (name) => (await features()).unsetBudget(name),
});
