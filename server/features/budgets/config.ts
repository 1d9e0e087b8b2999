import * as z from 'zod';
import type { ModelPrice } from '../../../shared/budgets/options.js';
import type { Usage } from '../../../shared/messages.js';
import { policyAlone } from '../../apps/confirm-policy.js';
import type { Prices } from '../../held/gates.js';
import { costOf, partsOf } from './counts.js';

const currency = z.string().regex(/^[A-Z]{3}$/, 'must be three letters of ISO 4217');
const ms = z.number().positive();
const amount = z.number().min(0).max(1e12);

const zone = z.string().refine((name) => {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}, 'is no time zone');

const limit = z
  .strictObject({
    ...{ cost: amount.exactOptional(), currency: currency.exactOptional() },
    ...{ tokens: amount.exactOptional(), runs: z.number().int().min(0).exactOptional() },
  })
  .refine(
    ({ cost, tokens, runs }) => cost !== undefined || tokens !== undefined || runs !== undefined,
    'must have a cost, tokens or runs',
  );

const shape = {
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, '1 to 64 of A-Z a-z 0-9 _ . -'),
  period: z.enum(['run', 'day', 'month', 'ever']),
  zone: zone.optional(),
  limit,
  at: z.array(z.number().gt(0).max(1)).max(8).optional(),
  reached: z.enum(['warn', 'ask', 'stop']),
  question: policyAlone.optional(),
};

const per = z.enum(['session', 'person', 'grant', 'tenant', 'app']);
const func = z.custom((value) => typeof value === 'function', 'must be a function');

/** A budget that is kept, whose `per` is a word. */
export const budgetSchema = z.strictObject({ ...shape, per });

const price = z.strictObject({
  ...{ input: z.number().min(0), output: z.number().min(0), cached: z.number().min(0).optional() },
  ...{ currency: currency.optional(), per: z.number().positive().optional() },
});

/** The fields of a gateway's configuration about usage. */
export const budgetConfig = {
  budgets: z
    .array(z.strictObject({ ...shape, per: z.union([per, func]) }))
    .max(64)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have different names')
    .optional(),
  prices: z.record(z.string(), price).optional(),
  usage: z.strictObject({ keptMs: ms.optional(), keepSums: z.boolean().optional() }).optional(),
};

const countOf = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** Adds the cost of a call by the host's prices. One that its app names stays. */
export const pricesOf =
  (prices: Readonly<Record<string, ModelPrice>>): Prices =>
  (usage: Usage): Usage => {
    const { model, cost } = usage;
    if (cost !== undefined || typeof model !== 'string' || !Object.hasOwn(prices, model)) return usage;
    const { input, output, cached = input, currency: of = 'USD', per: tokens = 1_000_000 } = prices[model]!;
    const inputs = countOf(usage.inputTokens);
    const fromCache = Math.min(inputs, countOf(usage.cachedInputTokens));
    const sum =
      ((inputs - fromCache) * input + fromCache * cached + countOf(usage.outputTokens) * output) / tokens;
    return { ...usage, cost: costOf(partsOf(sum)), currency: of };
  };
