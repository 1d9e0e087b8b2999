import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { MethodTree } from '../../shared/method.js';
import type { Application } from '../apps/application.js';
import type { UserLike } from '../auth/types.js';
import type { GatewayConfig, PayloadSchemas } from '../config/config.js';
import { embeddedIn, mayUpgrade, startForHost } from '../gateway/embedding.js';
import { Gateway, type GivenMethods } from '../gateway/gateway.js';
import { isGateway } from '../gateway/parts.js';
import { ExpressUpgrades } from './upgrades.js';

/** A request as host middleware left it. */
export interface HostRequest extends IncomingMessage {
  // Properties that the host's own middleware has added, such as `user` or `session`.
  readonly [property: string]: any;
}

/** Options of the middleware. */
export interface MiddlewareOptions {
  /**
   * Names the user that the host's own middleware has authenticated. For undefined or null, the gateway's `auth` decides. If there is no
   * `auth`, which would let everybody in, the request is refused.
   */
  readonly user?: (request: HostRequest) => UserLike | null | undefined;
}

/** Express middleware that serves a gateway. Its type is only its call, which Express 4 and 5 share. */
export interface GatewayRouter<G> {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  readonly gateway: G;
  /** Serves WebSockets at `/ws` below the same mount, and those of plugins, through the host's own middleware. Leaves other upgrades alone. */
  attach(server: Server): void;
  readonly '~contract': G extends { readonly '~contract': infer Contract } ? Contract : never;
}

type MountedGateway = Gateway<any, any, any, any>;

/**
 * Express middleware (for Express 5 and 4) that serves a gateway below any mount path, before or after `express.json()`. Paths that are not
 * the gateway's go to `next()`.
 *
 * The gateway starts by itself: it opens its store, resumes the runs that it finds there, and starts its plugins. Await `gateway.start()`
 * to receive errors, which otherwise only go to the log. Start a ready gateway that has its own port yourself.
 *
 * @throws GatewayError `INVALID_REQUEST` naming each wrong field
 *
 * @example
 * ```ts
 * const gateway = gatewayMiddleware({ app, auth: { type: 'jwt', secret: process.env.JWT_SECRET! } });
 * const server = express().use('/agent', gateway).listen(3000);
 * gateway.attach(server);
 * ```
 */
export function gatewayMiddleware<G extends MountedGateway>(
  gateway: G,
  options?: MiddlewareOptions,
): GatewayRouter<G>;
export function gatewayMiddleware<
  Methods extends MethodTree,
  Channels extends PayloadSchemas = Readonly<Record<never, never>>,
  Events extends PayloadSchemas = Readonly<Record<never, never>>,
  Single extends Application = never,
  Many extends Readonly<Record<string, Application>> = Readonly<Record<never, never>>,
>(
  config: GatewayConfig<Methods, Channels, Events, Single, Many>,
  options?: MiddlewareOptions,
): GatewayRouter<Gateway<GivenMethods<Methods>, Channels, Events, Single | Many[keyof Many]>>;
export function gatewayMiddleware(
  source: MountedGateway | GatewayConfig<any, any, any>,
  options: MiddlewareOptions = {},
): GatewayRouter<MountedGateway> {
  const gateway = isGateway(source)
    ? (source as MountedGateway)
    : new Gateway(embeddedIn(options, source as GatewayConfig));
  startForHost(gateway);
  const upgrades = new ExpressUpgrades({
    tryUpgrade: (...upgrade) => gateway.tryUpgrade(...upgrade),
    mayUpgrade: (path) => mayUpgrade(gateway, path),
  });
  const serve = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const user = options.user && (options.user(request as HostRequest) ?? null);
    const served = upgrades.has(request)
      ? upgrades.take(request, { user })
      : gateway.tryRequest(request, response, { user });
    if (!served) next();
  };
  const attach = (server: Server): void => upgrades.attach(server);
  return Object.assign(serve, { gateway, attach }) as GatewayRouter<MountedGateway>;
}
