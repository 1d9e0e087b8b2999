import * as z from 'zod';
import { USAGE_BY } from './contract.js';

/** A day in UTC. */
export const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day, as 2026-11-28');
const BY = new RegExp(`^(${USAGE_BY.join('|')})(,(${USAGE_BY.join('|')}))*$`);
const amounts = z.object({
  cost: z.number().exactOptional(),
  currency: z.string().exactOptional(),
  tokens: z.number().exactOptional(),
  runs: z.number().exactOptional(),
});

/** Fields of the state of a budget. */
export const budgetStateShape = {
  budget: z.string(),
  spent: amounts,
  limit: amounts,
  opensAt: z.number().nullable(),
};

/** Fields of the events of budgets. */
export const budgetEventShapes = {
  budget_warned: { ...budgetStateShape, at: z.number() },
  budget_reached: budgetStateShape,
};

const row = z.object({
  day: z.string().exactOptional(),
  model: z.string().exactOptional(),
  app: z.string().exactOptional(),
  person: z.string().nullable().exactOptional(),
  tenant: z.string().nullable().exactOptional(),
  grant: z.string().nullable().exactOptional(),
  session: z.string().exactOptional(),
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number(),
  reasoningTokens: z.number(),
  cost: z.number().nullable(),
  currency: z.string().nullable(),
});

/** Params and results of the operations on usage. */
export const budgetOperationSchemas = {
  usage: {
    params: z.strictObject({
      from: day.optional(),
      to: day.optional(),
      by: z
        .string()
        .regex(BY, `must be some of ${USAGE_BY.join(', ')}, with commas between them`)
        .optional(),
    }),
    result: z.object({ usage: z.array(row) }),
  },
};
