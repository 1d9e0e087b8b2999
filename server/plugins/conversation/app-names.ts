import type { AppSummary } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import type { PluginContext } from '../plugin.js';
import { fieldError } from './errors.js';

/** The name of a session in its app. */
export const nameIn = (sessionId: string): string => sessionId.slice(sessionId.indexOf(':') + 1);

/** The apps of a gateway, by the names of a mapping and by their own. */
export class AppNames {
  readonly #apps = new Map<string, string>();
  readonly #context: Pick<PluginContext, 'appsOf'>;

  /** @param option The option that has the mapping. @throws GatewayError `INVALID_REQUEST` when it names an unknown app */
  constructor(
    context: Pick<PluginContext, 'apps' | 'appsOf'>,
    option: string,
    mapping: Readonly<Record<string, string>> = {},
  ) {
    this.#context = context;
    const apps = context.apps().map(({ name }) => name);
    for (const [name, app] of Object.entries(mapping)) {
      if (!apps.includes(app)) throw fieldError(`${option}.${name}`, `there is no app named ${app}`);
      this.#apps.set(name, app);
    }
    for (const app of apps) if (!this.#apps.has(app)) this.#apps.set(app, app);
  }

  /** The app behind a name; undefined if there is none that the caller may use. */
  async find(name: string, person: Person): Promise<AppSummary | undefined> {
    const apps = await this.#context.appsOf(person);
    return apps.find((app) => app.name === this.#apps.get(name));
  }

  /** The names whose apps a caller may use. */
  async list(person: Person): Promise<string[]> {
    const usable = new Set((await this.#context.appsOf(person)).map(({ name }) => name));
    return [...this.#apps].filter(([, app]) => usable.has(app)).map(([name]) => name);
  }
}
