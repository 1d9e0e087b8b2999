export type {
  BudgetAmounts,
  BudgetState,
  UsageBy,
  UsageQuery,
  UsageRow,
} from '../../../shared/budgets/contract.js';
export type {
  Budget,
  BudgetedRun,
  GatewayBudgets,
  HostUsageQuery,
  ModelPrice,
  UsageOptions,
} from '../../../shared/budgets/options.js';
