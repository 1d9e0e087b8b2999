import { GatewayError } from '../../shared/errors.js';
import type { GatewayPlugin, PluginRequest } from './plugin.js';

type Handle = (request: PluginRequest) => void | Promise<void>;

/** The plugins of a gateway and their routes. */
export class PluginHost {
  readonly #gatewayId: string;
  readonly #report: (error: unknown, what: string) => void;
  readonly #plugins: GatewayPlugin[] = [];
  readonly #routes = new Map<string, Handle>();

  constructor(gatewayId: string, report: (error: unknown, what: string) => void) {
    this.#gatewayId = gatewayId;
    this.#report = report;
  }

  /** @throws GatewayError `INVALID_REQUEST` when the plugin is there already or wants a path that is taken */
  use(plugin: GatewayPlugin): void {
    if (this.#plugins.some((other) => other.name === plugin.name)) {
      throw new GatewayError({
        code: 'INVALID_REQUEST',
        message: `The plugin ${plugin.name} is already in use`,
      });
    }
    plugin.setup({
      gatewayId: this.#gatewayId,
      route: (path, handle) => {
        if (!/^(?:\/[A-Za-z0-9_.-]+)+$/.test(path) || this.#routes.has(path)) {
          throw new GatewayError({
            code: 'INVALID_REQUEST',
            message: `The route ${path} is malformed or taken`,
          });
        }
        this.#routes.set(path, handle);
      },
      report: this.#report,
    });
    this.#plugins.push(plugin);
  }

  /** The handler of a path or of the nearest path above it. */
  find(path: string): Handle | undefined {
    if (this.#routes.size === 0) return undefined;
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) {
      const handle = this.#routes.get(path.slice(0, at));
      if (handle) return handle;
    }
    return undefined;
  }

  async start(): Promise<void> {
    for (const plugin of this.#plugins) await plugin.start?.();
  }

  async destroy(): Promise<void> {
    for (const plugin of [...this.#plugins].reverse()) {
      try {
        await plugin.destroy?.();
      } catch (error) {
        this.#report(error, `the plugin ${plugin.name} could not be destroyed`);
      }
    }
  }
}
