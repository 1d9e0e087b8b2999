import type { UsageQuery, UsageRow } from '../../shared/budgets/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

export type {
  BudgetAmounts,
  BudgetState,
  UsageBy,
  UsageQuery,
  UsageRow,
} from '../../shared/budgets/contract.js';
export { usageCsv } from '../../shared/budgets/csv.js';

/** Sums up what a user has used. */
export type ClientUsage = (query?: UsageQuery & SignalOptions) => Promise<readonly UsageRow[]>;

/**
 * All that a client's user has used, in all sessions; by a link, all that its bearers have.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const usage = clientUsage(client);
 * for (const { day, inputTokens, outputTokens, cost, currency } of await usage({ by: ['day'] }))
 *   console.log(day, inputTokens + outputTokens, cost ?? 'unknown', currency);
 * ```
 */
export function clientUsage(client: Pick<Client, 'connection'>): ClientUsage {
  const core = coreOf.get(client);
  if (!core) throw misused('clientUsage needs a client of createClient');
  return async ({ by = [], ...query } = {}) => {
    const { usage } = await core.call('usage', { ...query, ...(by.length > 0 && { by: by.join(',') }) });
    return usage;
  };
}
