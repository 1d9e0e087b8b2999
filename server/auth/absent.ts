import type { BaseUser } from '../../shared/contract.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { HostCode } from './host-call.js';
import type { Identify } from './identity.js';
import { unauthenticated } from './refusal.js';
import { userScope } from './scope.js';
import type { AuthConfig, Person, UserLike } from './types.js';

/** A user who isn't there, and for whom something is to happen now. */
export type AbsentUser = Pick<BaseUser, 'id' | 'tenantId'>;

/** Collaborators of `createAbsent`. */
export interface AbsentOptions {
  readonly auth: AuthConfig;
  readonly identify: Identify;
  onError(error: unknown): void;
  /** Milliseconds that `hydrateUser` may take. @default 10_000 */
  readonly hostTimeoutMs?: number;
}

/**
 * Makes a function that gives the present identity of a user who isn't there: what `hydrateUser` says of the user's id, or the configuration. Without
 * either, the user has an id alone.
 *
 * The returned function throws `UNAUTHENTICATED` for a user who is not known any more, and `AUTH_UNAVAILABLE` where nobody can say.
 */
export function createAbsent({
  auth,
  identify,
  onError,
  hostTimeoutMs = 10_000,
}: AbsentOptions): (user: AbsentUser) => MaybePromise<Person> {
  const host = new HostCode(hostTimeoutMs, onError);
  return (user) => {
    const { hydrateUser } = auth;
    const named = auth.type === 'token' && auth.user?.id === user.id ? auth.user : user;
    if (!hydrateUser) return identify(named);
    const request = { headers: {}, ip: '' };
    const run = () => hydrateUser({ valid: true, user: named as BaseUser, absent: true }, request);
    const called = host.call<UserLike>({ name: 'auth.hydrateUser', token: undefined, run });
    return andThen(called, (outcome) => {
      if (!outcome.ok) throw outcome.bad ? unauthenticated('hydrateUser refused the user') : outcome.error;
      const person = identify(outcome.value);
      if (person.key === userScope(user)) return person;
      throw unauthenticated('hydrateUser gave another user');
    });
  };
}
