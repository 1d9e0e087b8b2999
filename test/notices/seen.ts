import type { Gateway, NoticeOutcome } from '../../server/index.js';

/** How often something became of notices of a gateway. */
export function counted(gateway: Gateway<any, any, any>, ...outcomes: readonly NoticeOutcome[]): number {
  const all = gateway.stats().notices.outcomes;
  return all.reduce((sum, { outcome, count }) => (outcomes.includes(outcome) ? sum + count : sum), 0);
}
