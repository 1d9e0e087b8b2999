import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { MethodTree } from '../../shared/method.js';
import type { UserLike } from '../auth/types.js';
import type { GatewayConfig, PayloadSchemas } from '../config/config.js';
import type { Gateway } from '../gateway/gateway.js';
import type { GatewayPlugin } from '../plugins/plugin.js';

/** The module's relation to its host, for any gateway. */
export interface GatewayHostOptions {
  /**
   * Names the user that the host's own guards have put on the request (Express' or Fastify's). For undefined or null, the gateway's `auth`
   * decides. If there is no `auth`, which would let everybody in, the request is refused.
   */
  readonly user?: ((request: any) => UserLike | null | undefined) | undefined;
  /** Plugins to attach. Those with routes need `pluginPaths` too. */
  readonly plugins?: readonly GatewayPlugin[] | undefined;
}

/** The configuration of a gateway, without the options that the host decides. */
export interface OwnGatewayOptions<
  Methods extends MethodTree = MethodTree,
  Channels extends PayloadSchemas = PayloadSchemas,
  Events extends PayloadSchemas = PayloadSchemas,
> extends Omit<
      GatewayConfig<Methods, Channels, Events>,
      'embedded' | 'host' | 'port' | 'extraRoutes' | 'allowedHosts'
    >,
    GatewayHostOptions {}

/** An existing gateway, for `createClient<typeof gateway>`. Make it with `embedded: true, extraRoutes: '/_gateway'`. */
export interface ReadyGatewayOptions extends GatewayHostOptions {
  readonly gateway: Gateway<any, any, any>;
}

/** Options that must be known before the module is made. */
export interface ControllerOptions {
  /** Whether the default controller serves the routes. False leaves them to the host's own. @default true */
  readonly registerController?: boolean | undefined;
  /** Paths of plugins, each served with everything below it, beside the default controller's. @default [] */
  readonly pluginPaths?: readonly string[] | undefined;
}

/** Options of `GatewayModule.forRootAsync`. */
export interface GatewayModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'>, ControllerOptions {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...dependencies: any[]) => GatewayFactoryResult | Promise<GatewayFactoryResult>;
  /** Names of the apps that `getAppToken` can inject. @default [] */
  readonly appNames?: readonly string[] | undefined;
}

/** The result of the factory: a configuration, or a gateway. */
export type GatewayFactoryResult = OwnGatewayOptions<any, any, any> | ReadyGatewayOptions;
