import type { Audit } from '../audit/audit.js';
import { type DisconnectTarget, matcherOf, type Presence } from '../auth/presence.js';
import type { Tickets } from '../auth/tickets.js';
import { type Errands, errand } from '../cluster/errands.js';
import type { Act } from '../diagnostics/audit-entry.js';
import type { Report } from '../diagnostics/log-facts.js';

/** Asks other gateways to end everything that a user has open. */
const DISCONNECT = errand<DisconnectTarget, number>('disconnect');

/** Ends everything that a user has open, at all gateways, and returns the number that was ended here. */
export type Disconnect = (target: DisconnectTarget, door?: 'host' | 'operator') => number;

/** Connects the parts by which all that a user has open is ended. */
export function disconnecting({
  errands,
  audit,
  tickets,
  presence,
  report,
}: {
  readonly errands: Errands;
  readonly audit: Audit;
  readonly tickets: Tickets;
  readonly presence: Presence;
  readonly report: Report;
}): Disconnect {
  const end = (target: DisconnectTarget): number => {
    tickets.withdraw(matcherOf(target));
    return presence.disconnect(target);
  };
  errands.on(DISCONNECT, end);
  return (target, door = 'host') => {
    audit.note(disconnected(target, door));
    errands
      .askAll(DISCONNECT, target)
      .catch((error: unknown) => report(error, 'disconnecting a user from other gateways'));
    return end(target);
  };
}

/** The end of all that a user has open, as an act. */
function disconnected(target: DisconnectTarget, door: string): Act {
  const { id, tenantId, userId = id } = target as { id?: string; tenantId?: string; userId?: string };
  return {
    ...{ act: 'disconnect', door, by: null, outcome: 'ok' },
    about: { userId: String(userId), ...(tenantId !== undefined && { tenantId }) },
  };
}
