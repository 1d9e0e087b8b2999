import { useUsage } from 'agent-session-gateway/client/react';

interface Amounts {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cost?: number | null;
  readonly currency?: string | null;
}

/** Tokens, and the cost as far as it is known, in the words of the reader's language. */
export function amountsOf({ inputTokens, outputTokens, totalTokens, cost, currency }: Amounts): string {
  const tokens = totalTokens ?? (inputTokens ?? 0) + (outputTokens ?? 0);
  const parts = tokens > 0 ? [`${tokens.toLocaleString()} tokens`] : [];
  if (typeof cost === 'number') parts.push(money(cost, currency ?? 'USD'));
  return parts.join(', ');
}

/** A cost of less than a cent has two digits that tell something. */
const money = (cost: number, currency: string): string =>
  cost.toLocaleString(undefined, {
    ...{ style: 'currency', currency },
    ...(cost > 0 && cost < 0.01 && { maximumSignificantDigits: 2 }),
  });

/** The user's tokens and costs of this month, in UTC. Nothing where nothing is counted. */
export function UsageLine({
  id,
}: {
  /** The session whose answers change it, such as `main`. */
  readonly id: string;
}) {
  const from = `${new Date().toISOString().slice(0, 7)}-01`;
  const { usage } = useUsage({ from, sessionId: id });
  if (usage.length === 0) return null;
  // Calls with a cost have a row for each currency, those without one have another.
  const costs = usage.filter(({ cost }) => cost !== null && cost > 0);
  const tokens = usage.reduce((sum, row) => sum + row.inputTokens + row.outputTokens, 0);
  const said = [
    amountsOf({ totalTokens: tokens }),
    ...costs.map(({ cost, currency }) => amountsOf({ cost, currency })),
  ];
  return <p className="asg used muted">{said.filter((part) => part !== '').join(', ')} this month</p>;
}
