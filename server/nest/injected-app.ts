import type { App } from '../apps/define-app.js';
import type { SessionOptions } from '../apps/session-handle.js';
import type { Gateway } from '../gateway/gateway.js';

/**
 * An app of a gateway for hosts. A plain object with `run` gets the `session` method that `defineApp` adds.
 *
 * @throws GatewayError `APP_NOT_FOUND`
 */
export function appOf(gateway: Gateway<any, any, any>, name: string = gateway.defaultApp): App {
  const app = gateway.app(name);
  if ('session' in app) return app as App;
  const session = (id: string, options?: SessionOptions) => gateway.session(`${name}:${id}`, options);
  return Object.create(app, { session: { value: session } }) as App;
}
