import { GatewayError } from '../../../shared/errors.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { sendJson } from '../conversation/answering.js';
import { read } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import { notTaken, type RouteRequest, Router } from '../conversation/routing.js';
import { partsOf } from '../conversation/urls.js';
import type { PluginContext } from '../plugin.js';
import { assistantRoutes } from './assistants.js';
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

/** The routes of LangGraph's API. */
export class LangGraphRoutes {
  readonly #path: string;
  readonly #streams: EventStreams;
  readonly #commands: Commands;
  readonly #router: Router;

  constructor(context: PluginContext, { path, conversation }: LangGraphRoutesOptions) {
    this.#path = path;
    const threads = new Threads(context);
    this.#streams = new EventStreams(threads);
    this.#commands = new Commands(threads, conversation);
    this.#router = new Router(path, {
      'GET info': () => ({ version: '1.0.0', flags: { assistants: true, crons: false } }),
      ...assistantRoutes(context),
      ...new ThreadRoutes(context, threads).table,
      ...new Runs(context, threads, conversation).table,
      'POST threads/{id}/commands': async ({ call, person }, id) =>
        this.#commands.run(person, id, await call.body()),
      'POST threads/{id}/stream/events': (asked, id) => this.#events(asked, id),
      'GET threads/{id}/stream/events': notTaken('This route takes POST, and WebSockets'),
    });
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    if (call.path === `${this.#path}/ok`) return sendJson(call.response, { ok: true });
    await this.#router.serve(call);
  }

  async #events({ call, person }: RouteRequest, threadId: string): Promise<void> {
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
