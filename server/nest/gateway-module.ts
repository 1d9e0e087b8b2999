import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { GatewayError } from '../../shared/errors.js';
import type { MethodTree } from '../../shared/method.js';
import type { PayloadSchemas } from '../config/config.js';
import { embeddedIn, hostingOf } from '../gateway/embedding.js';
import { Gateway } from '../gateway/gateway.js';
import { EXTRA_ROUTES, GatewayController, pluginController } from './gateway-controller.js';
import { GatewayErrorFilter } from './gateway-error-filter.js';
import { GatewayService } from './gateway-service.js';
import { appOf } from './injected-app.js';
import type {
  ControllerOptions,
  GatewayFactoryResult,
  GatewayModuleAsyncOptions,
  OwnGatewayOptions,
  ReadyGatewayOptions,
} from './options.js';
import { GATEWAY, GATEWAY_APP, GATEWAY_OPTIONS, getAppToken } from './tokens.js';

type NestGateway = Gateway<any, any, any>;

/**
 * A gateway in a Nest application. The module is global, one per application.
 *
 * @example
 * ```ts
 * const imports = [GatewayModule.forRoot({ app, auth: { type: 'token', token: process.env.GATEWAY_TOKEN! } })];
 * ```
 */
@Module({})
export class GatewayModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  @Inject(GATEWAY)
  private readonly gateway!: NestGateway;

  /**
   * Makes the module for a configuration, or for an existing gateway.
   *
   * @throws GatewayError `INVALID_REQUEST`, when the application is made, naming each wrong field
   */
  static forRoot(options: ReadyGatewayOptions & ControllerOptions): DynamicModule;
  static forRoot<
    Methods extends MethodTree,
    Channels extends PayloadSchemas = Readonly<Record<never, never>>,
    Events extends PayloadSchemas = Readonly<Record<never, never>>,
  >(options: OwnGatewayOptions<Methods, Channels, Events> & ControllerOptions): DynamicModule;
  static forRoot(options: GatewayFactoryResult & ControllerOptions): DynamicModule {
    const { registerController, pluginPaths, ...source } = options;
    if ('gateway' in source) checkHosting(source.gateway, registerController);
    return moduleOf({
      ...{ registerController, pluginPaths },
      appNames: 'gateway' in source ? source.gateway.appNames : Object.keys(source.apps ?? {}),
      source: { provide: GATEWAY_OPTIONS, useValue: source },
    });
  }

  /** Makes the module for the result of a factory. */
  static forRootAsync(options: GatewayModuleAsyncOptions): DynamicModule {
    const { imports = [], inject = [], useFactory, appNames = [], registerController, pluginPaths } = options;
    const checked = async (...dependencies: unknown[]): Promise<GatewayFactoryResult> => {
      const source = await useFactory(...dependencies);
      if ('gateway' in source) checkHosting(source.gateway, registerController);
      return source;
    };
    return moduleOf({
      ...{ imports, appNames, registerController, pluginPaths },
      source: { provide: GATEWAY_OPTIONS, useFactory: checked, inject },
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.gateway.start();
  }

  // Before the server closes: the server waits for open streams, which end when the gateway drains.
  async beforeApplicationShutdown(): Promise<void> {
    await this.gateway.close();
  }
}

interface ModuleParts extends ControllerOptions {
  readonly imports?: GatewayModuleAsyncOptions['imports'];
  readonly appNames: readonly string[];
  readonly source: Provider;
}

function moduleOf({
  imports = [],
  appNames,
  source,
  registerController = true,
  pluginPaths = [],
}: ModuleParts): DynamicModule {
  const gateway = { provide: GATEWAY, useFactory: makeGateway, inject: [GATEWAY_OPTIONS] };
  const service = {
    provide: GatewayService,
    useFactory: (it: NestGateway, options: GatewayFactoryResult) => new GatewayService(it, options),
    inject: [GATEWAY, GATEWAY_OPTIONS],
  };
  const apps = [undefined, ...appNames].map((name) => ({
    provide: name === undefined ? GATEWAY_APP : getAppToken(name),
    useFactory: (it: NestGateway) => appOf(it, name),
    inject: [GATEWAY],
  }));
  const filter = { provide: APP_FILTER, useClass: GatewayErrorFilter };
  return {
    module: GatewayModule,
    global: true,
    imports,
    providers: [source, gateway, service, ...apps, filter],
    controllers: [
      ...(registerController ? [GatewayController] : []),
      ...(pluginPaths.length > 0 ? [pluginController(pluginPaths)] : []),
    ],
    exports: [GATEWAY, GatewayService, ...apps.map(({ provide }) => provide)],
  };
}

/** Checks that Nest can serve a ready gateway. @throws GatewayError `INVALID_REQUEST` naming the option */
function checkHosting(gateway: NestGateway, registerController = true): void {
  const { embedded, extraRoutes } = hostingOf(gateway);
  const wrong = !embedded
    ? ['embedded', 'must be true: Nest serves the gateway, which else would listen on a port of its own']
    : registerController && extraRoutes !== EXTRA_ROUTES && extraRoutes !== false
      ? [
          'extraRoutes',
          `must be '${EXTRA_ROUTES}' (or false): that is where the default controller serves them`,
        ]
      : null;
  if (!wrong) return;
  const [path, message] = wrong as [string, string];
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `gateway.${path}: ${message}`,
    details: [{ path: `gateway.${path}`, message }],
  });
}

function makeGateway(source: GatewayFactoryResult): NestGateway {
  const { user, plugins = [], ...rest } = source;
  const gateway =
    'gateway' in rest
      ? rest.gateway
      : new Gateway(embeddedIn({ user }, { ...rest, extraRoutes: EXTRA_ROUTES }));
  for (const plugin of plugins) gateway.use(plugin);
  return gateway;
}
