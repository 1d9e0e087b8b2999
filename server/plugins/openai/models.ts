import { GatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import { AppNames } from '../conversation/app-names.js';
import type { PluginContext } from '../plugin.js';

/** A model in the vendor's list. */
export interface ModelObject {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since the epoch. */
  readonly created: number;
  readonly owned_by: string;
}

/** The apps of a gateway as models, by the names of a mapping and by their own. */
export class Models {
  readonly #apps: AppNames;
  readonly #created = Math.floor(Date.now() / 1000);

  /** @throws GatewayError `INVALID_REQUEST` when the mapping names an unknown app */
  constructor(
    context: Pick<PluginContext, 'apps' | 'appsOf'>,
    mapping: Readonly<Record<string, string>> = {},
  ) {
    this.#apps = new AppNames(context, 'modelMapping', mapping);
  }

  /** The models of a caller. */
  async list(person: Person): Promise<ModelObject[]> {
    return (await this.#apps.list(person)).map((id) => this.#describe(id));
  }

  /** @throws GatewayError `APP_NOT_FOUND` */
  async get(model: string, person: Person): Promise<ModelObject> {
    await this.appOf(model, person);
    return this.#describe(model);
  }

  /** The name of the app behind a model. @throws GatewayError `APP_NOT_FOUND`, also for one that the caller may not use */
  async appOf(model: string, person: Person): Promise<string> {
    const app = await this.#apps.find(model, person);
    if (app) return app.name;
    const message = `The model ${JSON.stringify(model)} does not exist`;
    throw new GatewayError({ code: 'APP_NOT_FOUND', message, details: [{ path: 'model', message }] });
  }

  #describe(id: string): ModelObject {
    return { id, object: 'model', created: this.#created, owned_by: 'agent-session-gateway' };
  }
}
