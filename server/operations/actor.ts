import { isGatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { AbsentUser } from '../auth/absent.js';
import type { Identify } from '../auth/identity.js';
import type { Person } from '../auth/types.js';
import type { Grants } from '../grants/grants.js';
import { guestOf } from '../grants/guests.js';
import type { AbsentActor, PresentActor } from '../sessions/due-in-session.js';
import type { SessionRef } from '../stores/stored.js';
import type { Access } from './access.js';

/** Collaborators of `createActorOf`. */
export interface ActorOptions {
  readonly access: Access;
  readonly grants: Grants;
  readonly identify: Identify;
  /** The present person of a user who isn't there. */
  absent(user: AbsentUser): MaybePromise<Person>;
}

/** The user as whom work is done later; null if that user may not send to its session any more. @throws if nobody can say now */
export type ActorOf = (home: SessionRef, kept: AbsentActor) => Promise<PresentActor | null>;

/** Makes a function that asks anew for the user for whom work is due: for the user, the grant, the app and the session. */
export function createActorOf({ access, grants, identify, absent }: ActorOptions): ActorOf {
  const presentOf = async ({ user, byHost }: AbsentActor): Promise<Person> => {
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
    kept: AbsentActor,
    grantId: string,
  ): Promise<PresentActor | null> => {
    const found = await grants.find(grantId);
    if (!found) return null;
    const { user } = kept;
    const isLink = found.kept.userKey === undefined;
    const guest = guestOf(found, user);
    const person = isLink ? guest : await presentOf(kept);
    const usable = await access.mayUse(home.app, person);
    if (!usable || !(await access.shared(found, 'send', person))) return null;
    return { user: person.user, grant: { id: grantId, givenBy: person.link?.givenBy } };
  };
  const owned = async (home: SessionRef, kept: AbsentActor): Promise<PresentActor | null> => {
    const person = await presentOf(kept);
    if (!kept.byHost && person.scope !== home.scope) return null;
    const usable = (await access.mayUse(home.app, person)) && (await access.mayReach(home, 'send', person));
    return usable ? { user: person.user } : null;
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
