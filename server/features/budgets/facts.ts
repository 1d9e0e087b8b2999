import type { UserContext } from '../../../shared/contract.js';
import type { SessionState } from '../../../shared/fold.js';
import { userOfScope, userScope } from '../../auth/scope.js';
import { guestKey } from '../../grants/grant-record.js';
import type { RunSender } from '../../runs/live-run.js';
import type { SessionRef } from '../../stores/stored.js';

/** All that a budget may ask of a run, or of a message that would begin one. */
export interface RunFacts {
  readonly ref: SessionRef;
  readonly sessionId: string;
  readonly user: UserContext | null;
  /** `Person.key` of who pays. */
  readonly payer: string;
  /** Id that reports have for the payer; null for a link, which its grant names. */
  readonly person: string | null;
  readonly tenant: string | null;
  readonly grant: string | null;
  /** The run at the root of the tree, in whose name all others spend. Empty before it begins. */
  readonly root: string;
}

/** The facts of a run by its sender. A link's bearers pay as one; a session without a known sender pays itself. */
export function factsOf(
  { ref, sessionId, root }: Pick<RunFacts, 'ref' | 'sessionId' | 'root'>,
  sender: RunSender | null,
): RunFacts {
  const { user = null, grant } = sender ?? {};
  const byLink = grant?.givenBy !== undefined;
  return {
    ...{ ref, sessionId, user, root },
    payer: byLink ? guestKey(grant.id) : user ? userScope(user) : ref.scope,
    person: byLink ? null : (user?.id ?? null),
    tenant: user?.tenantId ?? tenantOf(ref.scope),
    grant: grant?.id ?? null,
  };
}

// Most scopes are of users without a tenant, and need not be read.
const tenantOf = (scope: string): string | null =>
  scope.startsWith('[null,') ? null : (userOfScope(scope)?.tenantId ?? null);

/** The run at the root of the tree that a run is in. */
export function rootOf({ lanes = [] }: SessionState, runId: string): string {
  const parent = lanes.find((lane) => lane.runId === runId)?.parentRunId;
  return parent === undefined ? runId : rootOf({ lanes } as SessionState, parent);
}
