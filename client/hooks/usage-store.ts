import type { UsageQuery, UsageRow } from '../../shared/budgets/contract.js';
import { clientUsage } from '../budgets/index.js';
import type { Client } from '../client.js';
import { createReadStore, type ReadState } from './read-store.js';
import type { Observable } from './session-store.js';

/** The usage of a client's user, for display. */
export interface UsageView extends ReadState {
  readonly usage: readonly UsageRow[];
}

/** A question for usage. */
export interface UsageViewOptions extends UsageQuery {
  /** Key of a session whose answers have it read again as they end. @default it is read once */
  readonly sessionId?: string | undefined;
}

/** All that a client's user has used, updated while somebody listens. */
export function createUsageStore(
  client: Client<any>,
  { sessionId, ...query }: UsageViewOptions,
): Observable<UsageView> {
  const ask = clientUsage(client);
  return createReadStore(client, {
    nothing: { usage: [] as readonly UsageRow[] },
    sessionId,
    types: ['message_end', 'gap'],
    read: async () => ({ usage: await ask(query) }),
  });
}
