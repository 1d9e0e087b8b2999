import { GatewayError } from '../../../shared/errors.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { sendJson } from './answering.js';
import { partsOf, queryOf } from './urls.js';

/** A request whose caller is known. */
export interface RouteRequest {
  readonly call: PluginRequest;
  readonly person: Person;
  readonly query: URLSearchParams;
}

/** Serves a request. Its result is the JSON of the answer; without one it has answered. @param names The parts of the path in braces */
export type RouteHandler = (asked: RouteRequest, ...names: string[]) => MaybePromise<unknown>;

/** The routes of a door, by method and path below its own: `GET {id}/items`. The first that fits serves. */
export type RouteTable = Readonly<Record<string, RouteHandler>>;

/** Serves the routes of a table. */
export class Router {
  readonly #path: string;
  readonly #rows: readonly { readonly parts: readonly string[]; readonly handle: RouteHandler }[];

  /** @param path The door's own path */
  constructor(path: string, table: RouteTable) {
    this.#path = path;
    this.#rows = Object.entries(table).map(([route, handle]) => ({ parts: route.split(/[ /]/), handle }));
  }

  /** Serves a request. @param unknown The error where there is no such route. @throws GatewayError before the answer has begun */
  async serve(
    call: PluginRequest,
    unknown: (call: PluginRequest) => GatewayError = () => new GatewayError({ code: 'ROUTE_NOT_FOUND' }),
  ): Promise<void> {
    const { request, response, path } = call;
    const below = path.slice(this.#path.length + 1).replace(/\/$/, '');
    const asked = [request.method ?? '', ...partsOf(below)];
    const row = this.#rows.find(
      ({ parts }) => parts.length === asked.length && parts.every((part, at) => fits(part, asked[at]!)),
    );
    if (!row) throw unknown(call);
    const person = await call.authenticate();
    const names = asked.filter((_, at) => isOpen(row.parts[at]!));
    const result = await row.handle({ call, person, query: queryOf(request.url) }, ...names);
    if (result !== undefined) sendJson(response, result);
  }
}

const isOpen = (part: string): boolean => part.startsWith('{');

const fits = (part: string, asked: string): boolean => (isOpen(part) ? asked !== '' : asked === part);

/** A route that has other methods. */
export const notTaken = (message: string): RouteHandler => {
  return () => {
    throw new GatewayError({ code: 'METHOD_NOT_ALLOWED', message });
  };
};
