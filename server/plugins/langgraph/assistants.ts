import { GatewayError } from '../../../shared/errors.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import type { RouteRequest, RouteTable } from '../conversation/routing.js';
import type { PluginContext } from '../plugin.js';
import { readBody } from './bodies.js';
import { iso } from './states.js';

/** The routes of assistants, which are the apps of a gateway. */
export function assistantRoutes(context: PluginContext): RouteTable {
  const found = async ({ call, person }: RouteRequest) => {
    const { graph_id: graph, limit = 10, offset = 0 } = await readBody(call, 'assistants');
    const apps = await context.appsOf(person);
    return { all: apps.filter(({ name }) => graph == null || name === graph), limit, offset };
  };
  const known = async ({ person }: RouteRequest, id: string): Promise<AppSummary> => {
    const app = (await context.appsOf(person)).find(({ name }) => name === id);
    if (app) return app;
    throw new GatewayError({ code: 'APP_NOT_FOUND', message: `There is no assistant ${id}` });
  };
  return {
    'POST assistants/search': async (asked) => {
      const { all, limit, offset } = await found(asked);
      return all.slice(offset, offset + limit).map(assistant);
    },
    'POST assistants/count': async (asked) => (await found(asked)).all.length,
    'GET assistants/{id}': async (asked, id) => assistant(await known(asked, id)),
    'GET assistants/{id}/schemas': async (asked, id) => ({ graph_id: (await known(asked, id)).name }),
  };
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
