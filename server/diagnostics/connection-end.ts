import type { UserContext } from '../../shared/contract.js';
import { channels } from './channels.js';
import type { ConnectionEndReason } from './messages.js';

interface EndedConnection {
  readonly id: string;
  readonly person: { readonly user: UserContext };
  readonly options: { readonly transport: string; readonly client: boolean };
  readonly openedAt: number;
}

interface ConnectionEndFacts {
  readonly reason: ConnectionEndReason;
  readonly subscriptions: number;
}

/** Reports the end of a connection. */
export function traceConnectionEnd(
  gatewayId: string,
  connection: EndedConnection,
  ending: ConnectionEndFacts,
): void {
  if (!channels.connectionEnd.hasSubscribers) return;
  const { id, person, options, openedAt } = connection;
  const { reason, subscriptions } = ending;
  channels.connectionEnd.publish({
    gatewayId,
    connectionId: id,
    transport: options.transport,
    user: person.user,
    reason,
    openMs: performance.now() - openedAt,
    subscriptions,
    client: options.client,
  });
}
