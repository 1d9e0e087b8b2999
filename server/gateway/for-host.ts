import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { SessionHandle, SessionOptions } from '../apps/session-handle.js';
import type { ExecuteOptions } from '../host/execute-options.js';
import { hostIdentity } from '../host/host-identity.js';
import { hostCaller, openSession } from '../host/open-session.js';
import type { PlainOperation } from '../operations/operations.js';
import type { Assembly } from './assembly.js';

/** Does an operation for host code, see `Gateway.execute`. */
export async function executeFor<Name extends PlainOperation>(
  { config, authenticator, operations, http }: Assembly,
  name: Name,
  params: ParamsOf<Name>,
  options: ExecuteOptions,
): Promise<ResultOf<Name>> {
  const { auth, sessionScope } = config;
  if (!options.by || options.user) {
    const person = hostIdentity({ authenticator, auth, sessionScope }, options);
    return operations.execute(name, params, hostCaller(person));
  }
  const person = await http.identify(options.by);
  // The params of a request deserve no more trust than its client.
  return operations.execute(name, params, hostCaller(person, { trusted: false }));
}

/** Opens a session for host code, see `Gateway.session`. */
export function sessionFor(
  { config, authenticator, apps, host }: Assembly,
  ready: () => Promise<void> | null,
  key: string,
  options: SessionOptions,
): SessionHandle {
  const { auth, sessionScope } = config;
  const { app, name } = apps.parse(key);
  const person = hostIdentity({ authenticator, auth, sessionScope }, options);
  return openSession({ ...host, ready }, apps.format(app, name), hostCaller(person));
}
