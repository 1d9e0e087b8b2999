import { GatewayError } from '../../shared/errors.js';
import { type GrantRole, isAtLeast } from '../../shared/grants.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import type { OperationName } from '../../shared/operations.js';
import type { AccessedOperation } from '../config/access.js';

/** Uses that access is asked for, beside operations. */
const OTHER_ACCESS = {
  ...({ events: 'viewer', 'tool-call': 'member' } as const),
  ...({ compact: 'owner', notify: 'owner', 'run-webhooks': 'owner' } as const),
};

/** The least role that each operation needs by a grant. `owner` means that no grant allows it. */
export const LEAST_ROLES: Readonly<Record<AccessedOperation, GrantRole | 'owner'>> = {
  ...OTHER_ACCESS,
  ...(Object.fromEntries(Object.entries(OPERATION_WORDS).map(([name, { least }]) => [name, least])) as Record<
    OperationName,
    GrantRole | 'owner'
  >),
};

/** @throws GatewayError `ACCESS_DENIED` if a grant of this role does not allow the operation */
export function assertAllowed(role: GrantRole, operation: AccessedOperation): void {
  const least = LEAST_ROLES[operation];
  if (least !== 'owner' && isAtLeast(role, least)) return;
  const problem =
    least === 'owner'
      ? `Only the owner of a session may call ${operation}`
      : `${operation} needs a grant as ${least}; yours is as ${role}`;
  throw new GatewayError({ code: 'ACCESS_DENIED', message: problem });
}
