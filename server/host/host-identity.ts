import { GatewayError } from '../../shared/errors.js';
import type { SessionOptions } from '../apps/session-handle.js';
import type { Authenticator } from '../auth/authenticate.js';
import type { SessionScope } from '../auth/scope.js';
import type { AuthConfig, Person } from '../auth/types.js';
import { currentContext } from '../methods/context.js';

/** Settings that decide whose sessions host code's keys name. */
export interface HostIdentityOptions {
  readonly authenticator: Authenticator;
  readonly auth: AuthConfig;
  readonly sessionScope: SessionScope;
}

/**
 * The identity in whose scope host code opens a session: the named user, else the caller inside a call, else the only user that exists.
 *
 * @throws GatewayError `INVALID_REQUEST` outside a call if users have their own sessions and none is named, because another session would
 * be opened silently.
 */
export function hostIdentity(options: HostIdentityOptions, session: SessionOptions): Person {
  const { authenticator, auth, sessionScope } = options;
  if (session.user) return authenticator.identify(session.user);
  if (session.anonymous) return authenticator.identify({ id: 'anonymous' });
  const caller = currentContext()?.user;
  if (caller) return authenticator.identify(caller);
  if (sessionScope === 'global') return authenticator.identify({ id: 'host' });
  if (!auth.hydrateUser && auth.type === 'none') return authenticator.identify({ id: 'anonymous' });
  if (!auth.hydrateUser && auth.type === 'token') return authenticator.identify(auth.user ?? { id: 'token' });
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message:
      'Users have sessions of their own: pass { user } or { anonymous: true } to name the owner. The service of the Nest module takes { user } or { response } as its last argument',
  });
}
