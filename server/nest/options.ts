import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { MethodTree } from '../../shared/method.js';
import type { UserLike } from '../auth/types.js';
import type { GatewayConfig, PayloadSchemas } from '../config/config.js';
import type { Gateway } from '../gateway/gateway.js';
import type { GatewayPlugin } from '../plugins/plugin.js';

/** How the module works with its host, whatever the gateway. */
export interface GatewayHostOptions {
  /**
   * Names the user that the host's own guards have put on the request (Express' or Fastify's). Nobody (undefined or null) leaves it to
   * the gateway's `auth`; where that lets everybody in, because there is none, the request is refused.
   */
  readonly user?: ((request: any) => UserLike | null | undefined) | undefined;
  /** Plugins to attach. Those with routes need `pluginPaths` too. */
  readonly plugins?: readonly GatewayPlugin[] | undefined;
}

/** The configuration of a gateway, but for what the host decides. */
export interface OwnGatewayOptions<
  Methods extends MethodTree = MethodTree,
  Channels extends PayloadSchemas = PayloadSchemas,
  Events extends PayloadSchemas = PayloadSchemas,
> extends Omit<
      GatewayConfig<Methods, Channels, Events>,
      'embedded' | 'host' | 'port' | 'extraRoutes' | 'allowedHosts'
    >,
    GatewayHostOptions {}

/** A gateway that exists already, for `createClient<typeof gateway>`; made with `embedded: true, extraRoutes: '/_gateway'`. */
export interface ReadyGatewayOptions extends GatewayHostOptions {
  readonly gateway: Gateway<any, any, any>;
}

/** What must be known before the module is made. */
export interface ControllerOptions {
  /** Whether the default controller serves the routes; false leaves them to the host's own. @default true */
  readonly registerController?: boolean | undefined;
  /** Paths of plugins, each served with all below it, beside the default controller's. @default [] */
  readonly pluginPaths?: readonly string[] | undefined;
}

/** Options of `GatewayModule.forRootAsync`. */
export interface GatewayModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'>, ControllerOptions {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...dependencies: any[]) => GatewayFactoryResult | Promise<GatewayFactoryResult>;
  /** Names of the apps that `getAppToken` shall inject. @default [] */
  readonly appNames?: readonly string[] | undefined;
}

/** What the factory returns: a configuration, or a gateway. */
export type GatewayFactoryResult = OwnGatewayOptions<any, any, any> | ReadyGatewayOptions;
