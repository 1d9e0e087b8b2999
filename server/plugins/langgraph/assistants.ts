import { GatewayError } from '../../../shared/errors.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import { sendJson } from '../conversation/answering.js';
import type { PluginContext } from '../plugin.js';
import { readBody } from './bodies.js';

import type { RouteRequest } from './routes.js';
import { iso } from './states.js';

/** The apps of a gateway, as assistants. */
export class Assistants {
  readonly #context: PluginContext;

  constructor(context: PluginContext) {
    this.#context = context;
  }

  /** @throws GatewayError */
  async serve({ call, person, method }: RouteRequest, id: string, rest: readonly string[]): Promise<void> {
    const apps = await this.#context.appsOf(person);
    if (method === 'POST' && (id === 'search' || id === 'count')) {
      const { graph_id: graph, limit = 10, offset = 0 } = await readBody(call, 'assistants');
      const found = apps.filter(({ name }) => graph == null || name === graph);
      return sendJson(
        call.response,
        id === 'count' ? found.length : found.slice(offset, offset + limit).map(assistant),
      );
    }
    const app = apps.find(({ name }) => name === id);
    if (!app || method !== 'GET')
      throw new GatewayError({ code: 'APP_NOT_FOUND', message: `There is no assistant ${id}` });
    if (rest.length === 0) return sendJson(call.response, assistant(app));
    if (rest[0] === 'schemas') return sendJson(call.response, { graph_id: app.name });
    throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
  }
}

function assistant({ name, description }: AppSummary): object {
  return {
    assistant_id: name,
    graph_id: name,
    name,
    ...(description !== undefined && { description }),
    version: 1,
    config: {},
    context: {},
    metadata: { created_by: 'system' },
    created_at: iso(0),
    updated_at: iso(0),
  };
}
