import type { ClientTransport } from '../../shared/client-transport.js';
import type { SessionOptions } from '../apps/session-handle.js';
import { hostIdentity } from '../host/host-identity.js';
import { inProcessTransport } from '../transports/in-process/in-process-transport.js';
import type { Gateway } from './gateway.js';
import { partsOf } from './parts.js';

/**
 * Reaches a gateway in this process, for `createClient({ transport })` in host code and tests. Operations, limits and events are the same
 * as over a network.
 *
 * @throws GatewayError `INVALID_REQUEST` if users have their own sessions and none is named
 *
 * @example
 * ```ts
 * const client = createClient<typeof gateway>({ transport: createInProcessTransport(gateway, { user: { id: 'alice' } }) });
 * const { message } = await client.send('main', 'Hello').result;
 * ```
 */
export function createInProcessTransport(
  gateway: Gateway<any, any, any>,
  options: SessionOptions = {},
): ClientTransport {
  const parts = partsOf(gateway);
  const { auth, sessionScope } = parts.config;
  return inProcessTransport(parts, hostIdentity({ ...parts, auth, sessionScope }, options));
}
