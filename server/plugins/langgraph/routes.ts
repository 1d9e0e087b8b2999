import { GatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { sendJson } from '../conversation/answering.js';
import { read } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import { partsOf, queryOf } from '../conversation/urls.js';
import type { PluginContext } from '../plugin.js';
import { Assistants } from './assistants.js';
import { Commands } from './commands.js';

import { EventStreams, eventsSchema } from './event-streams.js';
import { Runs } from './runs.js';
import { ThreadSocket } from './socket.js';
import { ThreadRoutes } from './thread-routes.js';
import { Threads } from './threads.js';

/** The parts that the routes use. */
export interface LangGraphRoutesOptions {
  readonly path: string;
  readonly conversation: ConversationOptions;
}

/** A request below the plugin's path. */
export interface RouteRequest {
  readonly call: PluginRequest;
  readonly person: Person;
  readonly method: string;
  readonly query: URLSearchParams;
}

/** The routes of LangGraph's API. */
export class LangGraphRoutes {
  readonly #path: string;
  readonly #streams: EventStreams;
  readonly #commands: Commands;
  readonly #assistants: Assistants;
  readonly #threadRoutes: ThreadRoutes;
  readonly #runs: Runs;

  constructor(context: PluginContext, { path, conversation }: LangGraphRoutesOptions) {
    this.#path = path;
    const threads = new Threads(context);
    this.#streams = new EventStreams(threads);
    this.#commands = new Commands(threads, conversation);
    this.#assistants = new Assistants(context);
    this.#threadRoutes = new ThreadRoutes(context, threads);
    this.#runs = new Runs(context, threads, conversation);
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    const { request, response } = call;
    const [root = '', id = '', ...rest] = partsOf(call.path.slice(this.#path.length + 1));
    const method = request.method ?? '';
    if (root === 'ok') return sendJson(response, { ok: true });
    const person = await call.authenticate();
    const query = queryOf(request.url);
    const asked = { call, person, method, query };
    if (root === 'info')
      return sendJson(response, { version: '1.0.0', flags: { assistants: true, crons: false } });
    if (root === 'assistants') return this.#assistants.serve(asked, id, rest);
    if (root !== 'threads') throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    if (rest[0] === 'runs') return this.#runs.serve(asked, id, rest.slice(1));
    if (rest[0] === 'commands' && method === 'POST') return this.#command(asked, id);
    if (rest[0] === 'stream' && rest[1] === 'events') return this.#events(asked, id);
    return this.#threadRoutes.serve(asked, id, rest);
  }

  async #command({ call, person }: RouteRequest, threadId: string): Promise<void> {
    sendJson(call.response, await this.#commands.run(person, threadId, await call.body()));
  }

  async #events({ call, person, method }: RouteRequest, threadId: string): Promise<void> {
    if (method !== 'POST')
      throw new GatewayError({
        code: 'METHOD_NOT_ALLOWED',
        message: 'This route takes POST, and WebSockets',
      });
    const asked = read(eventsSchema, await call.body());
    const { response, request } = call;
    const lastId = String(request.headers['last-event-id'] ?? '');
    const events = await this.#streams.open(person, threadId, [asked], lastId);
    // A clean end of the stream would be taken for the end of its run.
    await events.on({ response }).catch(() => response.destroy());
  }

  /** Serves a WebSocket of a thread. @throws GatewayError */
  accept(upgrade: PluginUpgrade): ThreadSocket {
    const [root, id = '', ...rest] = partsOf(upgrade.path.slice(this.#path.length + 1));
    if (root !== 'threads' || rest.join('/') !== 'stream/events')
      throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    return new ThreadSocket({ commands: this.#commands, streams: this.#streams }, id, upgrade);
  }
}
