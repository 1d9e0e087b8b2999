import type { ExtraRoutes } from '../../shared/calls.js';
import { GatewayError } from '../../shared/errors.js';
import type { AppRegistry } from '../apps/registry.js';
import type { Errands } from '../cluster/errands.js';
import type { Notes } from '../cluster/notes.js';
import type { Limits } from '../config/limits.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import { type HostEnvironment, hostCaller } from '../host/open-session.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { PluginRoute, PluginRoutes } from '../transports/http/plugin-route.js';
import type { PluginSocketRoute, PluginSocketRoutes } from '../transports/websocket/plugin-upgrade.js';
import type { GatewayPlugin, MonitorPageMaker, PluginContext } from './plugin.js';
import { openPluginFile } from './plugin-file.js';
import { peersOf } from './plugin-peers.js';
import { openPluginSession } from './plugin-session.js';
import { describeTools } from './tool-description.js';

/** The part of a gateway that its plugins reach. */
export interface PluginEnvironment {
  readonly gatewayId: string;
  readonly extraRoutes: ExtraRoutes;
  readonly apps: AppRegistry;
  readonly lifecycle: Lifecycle;
  readonly host: HostEnvironment;
  readonly limits: PluginContext['limits'] & Pick<Limits, 'inlineFileBytes'>;
  /** The gateways on the same store. */
  readonly errands: Errands;
  readonly notes: Notes;
  /** The monitoring port, if there is one. */
  readonly monitor: { readonly isWanted: boolean; page(path: string, make: MonitorPageMaker): void };
  stats(): GatewayStats;
  report(error: unknown, what: string): void;
}

/** The plugins of a gateway and their routes. */
export class PluginHost implements PluginRoutes, PluginSocketRoutes {
  readonly #env: PluginEnvironment;
  readonly #plugins: GatewayPlugin[] = [];
  readonly #routes = new Map<string, PluginRoute>();
  readonly #sockets = new Map<string, PluginSocketRoute>();
  /** Plugins that have something to start and have not started. */
  readonly #waiting = new Map<GatewayPlugin, { readonly name: string; readonly failed: boolean }>();
  readonly #spares: ((sessionId: string) => boolean)[] = [];
  #started = false;

  constructor(env: PluginEnvironment) {
    this.#env = env;
  }

  /** @throws GatewayError `INVALID_REQUEST` if the plugin is there already, or wants a path that is taken */
  use(plugin: GatewayPlugin): void {
    if (this.#plugins.some((other) => other.name === plugin.name)) {
      throw new GatewayError({
        code: 'INVALID_REQUEST',
        message: `The plugin ${plugin.name} is already in use`,
      });
    }
    plugin.setup(this.#context(plugin.name));
    this.#plugins.push(plugin);
    if (plugin.start) this.#waiting.set(plugin, { name: plugin.name, failed: false });
    if (this.#started) void this.#startLate(plugin);
  }

  /** Starts a plugin that was added after the others had started. */
  async #startLate(plugin: GatewayPlugin): Promise<void> {
    try {
      await this.#start(plugin);
    } catch (error) {
      this.#env.report(error, `the plugin ${plugin.name} could not be started`);
    }
  }

  #context(transport: string): PluginContext {
    const { gatewayId, extraRoutes, apps, lifecycle, host, limits, errands, notes, monitor, stats, report } =
      this.#env;
    return {
      gatewayId,
      peers: peersOf(transport, errands, notes),
      extraRoutes,
      limits,
      monitored: monitor.isWanted,
      page: (path, make) => monitor.page(path, make),
      route: (path, handle, options = {}) => take(this.#routes, path, { handle, options }),
      socket: (path, accept, options = {}) => take(this.#sockets, path, { transport, accept, options }),
      runWebhooks(shape) {
        for (const { runWebhooks } of host.features) {
          const check = runWebhooks?.(transport, shape);
          if (check) return check;
        }
        return null;
      },
      apps: () => apps.summaries(),
      appsOf: (person) => host.operations.appsOf(person),
      async sessions(person, params = {}) {
        await host.ready();
        return host.operations.execute('sessions', params, hostCaller(person, { transport }));
      },
      tools: (sessionId) => describeTools(apps.get(apps.parse(sessionId).app)),
      session: (sessionId, person) => {
        const { app, name } = apps.parse(sessionId);
        return openPluginSession({ host, limits }, apps.format(app, name), { person, transport });
      },
      spares: (isSpare) => void this.#spares.push(isSpare),
      file: (fileId, person) =>
        openPluginFile({ host, inlineBytes: limits.inlineFileBytes }, fileId, { person, transport }),
      on: (event, listener) => lifecycle.on(event, listener),
      stats,
      report,
    };
  }

  find(path: string): PluginRoute | undefined {
    return nearest(this.#routes, path);
  }

  findSocket(path: string): PluginSocketRoute | undefined {
    return nearest(this.#sockets, path);
  }

  /** Whether nobody chose a session, by its name. */
  isSpare(sessionId: string): boolean {
    return this.#spares.some((isSpare) => isSpare(sessionId));
  }

  async start(): Promise<void> {
    for (const plugin of this.#plugins) await this.#start(plugin);
    this.#started = true;
  }

  async #start(plugin: GatewayPlugin): Promise<void> {
    try {
      await plugin.start?.();
      this.#waiting.delete(plugin);
    } catch (error) {
      this.#waiting.set(plugin, { name: plugin.name, failed: true });
      throw error;
    }
  }

  /** A plugin that has not started, or failed to start. */
  get unready(): { readonly name: string; readonly failed: boolean } | undefined {
    return this.#waiting.values().next().value;
  }

  /** Resolves when all plugins have finished their work before the end of runs. */
  async drain(): Promise<void> {
    const drained = this.#plugins.map(async (plugin) => {
      try {
        await plugin.drain?.();
      } catch (error) {
        this.#env.report(error, `the plugin ${plugin.name} could not be drained`);
      }
    });
    await Promise.all(drained);
  }

  async destroy(): Promise<void> {
    for (const plugin of [...this.#plugins].reverse()) {
      try {
        await plugin.destroy?.();
      } catch (error) {
        this.#env.report(error, `the plugin ${plugin.name} could not be destroyed`);
      }
    }
  }
}

/** @throws GatewayError `INVALID_REQUEST` when the path is malformed or taken */
function take<Route>(routes: Map<string, Route>, path: string, route: Route): void {
  if (!/^(?:\/|(?:\/[A-Za-z0-9_.-]+)+)$/.test(path) || routes.has(path)) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `The route ${path} is malformed or taken` });
  }
  routes.set(path, route);
}

/** The route of a path or of the nearest path above it; `/` is above no other. The cost depends on the few routes and not on the path. */
function nearest<Route>(routes: ReadonlyMap<string, Route>, path: string): Route | undefined {
  if (path === '/') return routes.get('/');
  let found: string | undefined;
  for (const route of routes.keys()) {
    if (!path.startsWith(route) || (path.length > route.length && path[route.length] !== '/')) continue;
    if (found === undefined || route.length > found.length) found = route;
  }
  return found === undefined ? undefined : routes.get(found);
}
