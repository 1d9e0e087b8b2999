import { GatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import { fieldError } from '../conversation/errors.js';
import type { PluginContext } from '../plugin.js';

/** A model in the vendor's list. */
export interface ModelObject {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since the epoch. */
  readonly created: number;
  readonly owned_by: string;
}

type ModelsContext = Pick<PluginContext, 'apps' | 'appsOf'>;

/** The apps of a gateway as models, by the names of a mapping and by their own. */
export class Models {
  readonly #apps = new Map<string, string>();
  readonly #context: ModelsContext;
  readonly #created = Math.floor(Date.now() / 1000);

  /** @throws GatewayError `INVALID_REQUEST` when the mapping names an unknown app */
  constructor(context: ModelsContext, mapping: Readonly<Record<string, string>> = {}) {
    this.#context = context;
    const apps = context.apps().map(({ name }) => name);
    for (const [model, app] of Object.entries(mapping)) {
      if (!apps.includes(app)) throw fieldError(`modelMapping.${model}`, `there is no app named ${app}`);
      this.#apps.set(model, app);
    }
    for (const app of apps) if (!this.#apps.has(app)) this.#apps.set(app, app);
  }

  /** The models of a caller. */
  async list(person: Person): Promise<ModelObject[]> {
    const usable = await this.#usable(person);
    return [...this.#apps].filter(([, app]) => usable.has(app)).map(([id]) => this.#describe(id));
  }

  /** @throws GatewayError `APP_NOT_FOUND` */
  async get(model: string, person: Person): Promise<ModelObject> {
    await this.appOf(model, person);
    return this.#describe(model);
  }

  /** The name of the app behind a model. @throws GatewayError `APP_NOT_FOUND`, also for one that the caller may not use */
  async appOf(model: string, person: Person): Promise<string> {
    const app = this.#apps.get(model);
    if (app !== undefined && (await this.#usable(person)).has(app)) return app;
    const message = `The model ${JSON.stringify(model)} does not exist`;
    throw new GatewayError({ code: 'APP_NOT_FOUND', message, details: [{ path: 'model', message }] });
  }

  async #usable(person: Person): Promise<ReadonlySet<string>> {
    return new Set((await this.#context.appsOf(person)).map(({ name }) => name));
  }

  #describe(id: string): ModelObject {
    return { id, object: 'model', created: this.#created, owned_by: 'agent-session-gateway' };
  }
}
