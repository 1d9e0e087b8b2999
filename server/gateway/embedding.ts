import type { GatewayConfig } from '../config/config.js';
import type { ParsedConfig } from '../config/parse.js';
import type { Gateway } from './gateway.js';
import { partsOf } from './parts.js';

/** The configuration of a gateway that a host serves. If the host names the users, requests without one are refused, and no `auth` is needed. */
export function embeddedIn(
  { user }: { readonly user?: unknown },
  config: GatewayConfig<any, any, any>,
): GatewayConfig<any, any, any> {
  return {
    ...config,
    embedded: true,
    auth: config.auth ?? (user === undefined ? undefined : { type: 'none' }),
  };
}

/** The hosting options that a gateway was made with. */
export function hostingOf(gateway: Gateway<any, any, any>): Pick<ParsedConfig, 'embedded' | 'extraRoutes'> {
  const { embedded, extraRoutes } = partsOf(gateway).config;
  return { embedded, extraRoutes };
}

/** Whether a gateway may serve an upgrade, wherever it is mounted. */
export function mayUpgrade(gateway: Gateway<any, any, any>, path: string): boolean {
  return partsOf(gateway).webSocket.mayTake(path);
}

/**
 * Starts an embedded gateway without waiting for it, once the host's own code has attached its plugins and listeners. Errors go to the log,
 * and to callers of `start()`.
 */
export function startForHost(gateway: Gateway<any, any, any>): void {
  const { config, state, report } = partsOf(gateway);
  // A gateway with its own port is started by its owner.
  if (!config.embedded) return;
  setImmediate(() => {
    if (state.draining) return;
    gateway.start().catch((error: unknown) => {
      if (!state.draining) report(error, 'starting the gateway');
    });
  });
}
