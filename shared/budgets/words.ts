import type { CauseWords, FeatureWords } from '../words.js';
import type { BUDGET_CAUSES, BudgetEvents, BudgetOperations, BudgetStats } from './contract.js';

export const BUDGETS: FeatureWords<BudgetOperations, BudgetEvents, object, BudgetStats> &
  CauseWords<(typeof BUDGET_CAUSES)[number]> = {
  operations: {
    usage: {
      least: 'viewer',
      rate: 'reads',
      // It sums up to some thousand records.
      cost: () => 5,
      sample: {},
      tag: 'reading',
      summary: 'All that the caller has used',
      description:
        'Tokens and cost of the calls of models that the runs of the caller have made, in all sessions; by a link, those of all who bear it.',
    },
  },
  events: {
    budget_warned: { summary: 'A budget has come to a part of its limit' },
    budget_reached: { summary: 'A budget is used up' },
  },
  limits: {},
  metrics: {
    growing: [
      [
        'used_tokens_total',
        'Tokens that calls of models have used, by app and by the models of `prices`',
        ({ used }) => used.map(({ app, model, currency, tokens }) => [{ app, model, currency }, tokens]),
        ['app', 'model', 'currency'],
      ],
      [
        'used_cost_total',
        'Cost of calls of models, as far as it is known, by app, model and currency',
        ({ used }) => used.map(({ app, model, currency, cost }) => [{ app, model, currency }, cost]),
        ['app', 'model', 'currency'],
      ],
    ],
  },
  causes: {
    budget_reached: 'A budget is used up',
    budget_warned: 'A budget is almost used up',
  },
};
