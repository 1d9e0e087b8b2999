import type { UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { AbsentUser } from '../auth/absent.js';
import type { Identify } from '../auth/identity.js';
import type { Identity } from '../auth/types.js';
import type { Grants } from '../grants/grants.js';
import type { KeptSchedule } from '../schedules/schedule-record.js';
import type { SessionRef } from '../stores/stored.js';
import type { Access } from './access.js';

/** Collaborators of `createSetter`. */
export interface SetterOptions {
  readonly access: Access;
  readonly grants: Grants;
  readonly identify: Identify;
  /** The present identity of a user who isn't there. */
  absent(user: AbsentUser): MaybePromise<Identity>;
}

/** The user as whom a schedule fires; null if that user may not send to its session any more. @throws if nobody can say now */
export type SetterOf = (home: SessionRef, kept: KeptSchedule) => Promise<UserContext | null>;

/** Makes a function that asks anew for the user who set a schedule: for the user, the grant, the app and the session. */
export function createSetter({ access, grants, identify, absent }: SetterOptions): SetterOf {
  const identityOf = async ({ user, byHost }: KeptSchedule): Promise<Identity> => {
    try {
      return await absent(user);
    } catch (error) {
      // Host code names users whom no directory knows.
      if (byHost) return identify(user);
      throw error;
    }
  };
  const byGrant = async (
    home: SessionRef,
    kept: KeptSchedule,
    grantId: string,
  ): Promise<UserContext | null> => {
    const found = await grants.find(grantId);
    if (!found) return null;
    const { user } = kept;
    const isLink = found.kept.userKey === undefined;
    const guest = { user, scope: '', userKey: '', guest: { grantId, givenBy: found.kept.grant.by } };
    const identity = isLink ? guest : await identityOf(kept);
    const usable = await access.mayUse(home.app, identity);
    return usable && (await access.shared(found, 'send', identity)) ? identity.user : null;
  };
  const owned = async (home: SessionRef, kept: KeptSchedule): Promise<UserContext | null> => {
    const identity = await identityOf(kept);
    if (!kept.byHost && identity.scope !== home.scope) return null;
    const usable =
      (await access.mayUse(home.app, identity)) && (await access.mayReach(home, 'send', identity));
    return usable ? identity.user : null;
  };
  return async (home, kept) => {
    try {
      return await (kept.grantId === undefined ? owned(home, kept) : byGrant(home, kept, kept.grantId));
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  };
}

/** Whether an error says that the user may not, and not that nobody can say. */
const isRefusal = (error: unknown): boolean =>
  isGatewayError(error) && error.status < 500 && error.status !== 429;
