import { GatewayError } from '../../../shared/errors.js';
import type { PluginContext } from '../plugin.js';

/** A model as the vendor's API lists it. */
export interface ModelObject {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since the epoch. */
  readonly created: number;
  readonly owned_by: string;
}

/** The apps of a gateway as models: by the names of a mapping, and by their own. */
export class Models {
  readonly #apps = new Map<string, string>();
  readonly #created = Math.floor(Date.now() / 1000);

  /** @throws GatewayError `INVALID_REQUEST` when the mapping names an app that there is not */
  constructor(context: Pick<PluginContext, 'apps'>, mapping: Readonly<Record<string, string>> = {}) {
    const apps = context.apps().map(({ name }) => name);
    for (const [model, app] of Object.entries(mapping)) {
      if (!apps.includes(app)) {
        const message = `there is no app named ${app}`;
        throw new GatewayError({
          code: 'INVALID_REQUEST',
          message: `modelMapping.${model}: ${message}`,
          details: [{ path: `modelMapping.${model}`, message }],
        });
      }
      this.#apps.set(model, app);
    }
    for (const app of apps) if (!this.#apps.has(app)) this.#apps.set(app, app);
  }

  list(): ModelObject[] {
    return [...this.#apps.keys()].map((id) => this.#describe(id));
  }

  /** @throws GatewayError `APP_NOT_FOUND` */
  get(model: string): ModelObject {
    this.appOf(model);
    return this.#describe(model);
  }

  /** The name of the app behind a model. @throws GatewayError `APP_NOT_FOUND` */
  appOf(model: string): string {
    const app = this.#apps.get(model);
    if (app !== undefined) return app;
    const message = `The model ${JSON.stringify(model)} does not exist`;
    throw new GatewayError({ code: 'APP_NOT_FOUND', message, details: [{ path: 'model', message }] });
  }

  #describe(id: string): ModelObject {
    return { id, object: 'model', created: this.#created, owned_by: 'agent-session-gateway' };
  }
}
