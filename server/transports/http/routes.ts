import { EVENTS_PATH, type ExtraRoutes } from '../../../shared/calls.js';
import { FEATURE_ROUTES, type FeatureRoute } from '../../../shared/features.js';
import { HEALTH_PATHS, OPERATIONS, type OperationName } from '../../../shared/operations.js';
import type { ServedOperation } from '../request.js';

/** The operation or fixed answer that a route leads to. */
export type Destination = OperationName | FeatureRoute | 'events' | 'healthz' | 'readyz';

export interface Route {
  readonly http: 'GET' | 'POST';
  readonly to: Destination;
}

/** A route, with the file that the path names. */
export interface FoundRoute extends Route {
  readonly fileId?: string;
}

/** The gateway's routes by path, from the operations table. */
export function routeTable(extraRoutes: ExtraRoutes): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>([[EVENTS_PATH, { http: 'GET', to: 'events' }]]);
  for (const [name, route] of Object.entries(OPERATIONS)) {
    const { http, path, extra } = route;
    if (extra && extraRoutes === false) continue;
    routes.set(extra ? `${extraRoutes}${path}` : path, { http, to: name as OperationName });
  }
  if (extraRoutes !== false) {
    for (const [to, { http, path }] of Object.entries(FEATURE_ROUTES))
      routes.set(`${extraRoutes}${path}`, { http, to: to as FeatureRoute });
    routes.set(`${extraRoutes}${HEALTH_PATHS.live}`, { http: 'GET', to: 'healthz' });
    routes.set(`${extraRoutes}${HEALTH_PATHS.ready}`, { http: 'GET', to: 'readyz' });
  }
  return routes;
}

/** The route of a path, and the file that it names. */
export function findRoute(routes: ReadonlyMap<string, Route>, path: string): FoundRoute | undefined {
  const route = routes.get(path);
  if (route) return route;
  const at = path.lastIndexOf('/') + 1;
  const below = routes.get(`${path.slice(0, at)}{fileId}`);
  return below && { ...below, fileId: path.slice(at) };
}

/** The route of one operation, independent of its path. */
export function routeOf(name: ServedOperation): Route {
  return { http: name === 'events' ? 'GET' : OPERATIONS[name].http, to: name };
}
