import { randomUUID } from 'node:crypto';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { sendJson } from '../conversation/answering.js';
import { handOver } from '../conversation/asked.js';
import { fieldError, read } from '../conversation/errors.js';
import { ClientRetries } from '../conversation/retries.js';
import { stateOf } from '../conversation/state.js';
import { partsOf, queryOf } from '../conversation/urls.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { callOf, follow, keptEvents } from './following.js';
import { runOfThread } from './ids.js';
import { sessionObject, threadObjects, timesIn, timesOf } from './objects.js';
import { answerOf, BODIES, blocksOf, type GivenEvent } from './request.js';
import { type ApiEvent, ApiWriter } from './writer.js';

/** The parts that the routes use. */
export interface SessionsApiRoutesOptions {
  readonly path: string;
  readonly agentMapping: Readonly<Record<string, string>>;
  readonly onBusy: 'queue' | 'interrupt' | 'reject';
}

/** A session that has begun, with the id that its client has. */
interface FoundSession {
  readonly id: string;
  readonly app: AppSummary;
  readonly session: PluginSession;
  readonly state: SessionState;
}

/** The routes of the API. */
export class SessionsApiRoutes {
  readonly #context: PluginContext;
  readonly #options: SessionsApiRoutesOptions;
  readonly #retries: ClientRetries<object, object>;

  /** @throws GatewayError `INVALID_REQUEST` when the mapping names an unknown app */
  constructor(context: PluginContext, options: SessionsApiRoutesOptions) {
    this.#context = context;
    this.#options = options;
    this.#retries = new ClientRetries(context.peers, (answer: object) => answer);
    const apps = context.apps().map(({ name }) => name);
    for (const [agent, app] of Object.entries(options.agentMapping))
      if (!apps.includes(app)) throw fieldError(`agentMapping.${agent}`, `there is no app named ${app}`);
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    const { request, response } = call;
    // The vendor's clients send their key in a header of its own.
    const key = request.headers['x-api-key'];
    if (typeof key === 'string') request.headers.authorization ??= `Bearer ${key}`;
    const person = await call.authenticate();
    const [id = '', ...rest] = partsOf(call.path.slice(this.#options.path.length + 1));
    const [what = '', thread, ...more] = rest;
    const isThread = what === 'threads' && thread !== undefined;
    const route = [
      request.method,
      isThread ? ['threads', '{thread}', ...more].join('/') : rest.join('/'),
    ].join(' ');
    if (id === '') return this.#all(call, person);
    const found = await this.#find(id, person);
    const run = isThread ? runOfThread(thread) : undefined;
    if (run === '') throw notFound(`There is no thread ${thread}`);
    const query = queryOf(request.url);
    switch (route) {
      case 'GET ':
        return sendJson(response, await objectOf(found));
      case 'POST ':
        return this.#update(call, found);
      case 'DELETE ':
        await found.session.delete();
        return sendJson(response, { id, type: 'session_deleted' });
      case 'POST archive':
        await found.session.update({ archived: true });
        return sendJson(response, await objectOf(await this.#find(id, person)));
      case 'POST events':
        return this.#post(call, person, found);
      case 'GET events':
      case 'GET threads/{thread}/events':
        return sendJson(response, pageOf(await keptEvents(found.session, run), query));
      case 'GET events/stream':
      case 'GET threads/{thread}/stream':
      case 'GET threads/{thread}/events/stream':
        return this.#stream(call, found, run);
      case 'GET threads':
        return sendJson(response, { data: threadObjects(id, found.state), next_page: null });
      case 'GET threads/{thread}': {
        const one = threadObjects(id, found.state).find((each) => each.id === thread);
        if (!one) throw notFound(`There is no thread ${thread} that is under way`);
        return sendJson(response, one);
      }
      default:
        throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    }
  }

  async #all(call: PluginRequest, person: Person): Promise<void> {
    if (call.request.method === 'GET') return sendJson(call.response, await this.#list(call, person));
    if (call.request.method !== 'POST') throw new GatewayError({ code: 'METHOD_NOT_ALLOWED' });
    const body = read(BODIES.create, await call.body());
    const { agent, title, metadata, initial_events: first } = body;
    const given = { headers: call.request.headers, person, body };
    const create = async (): Promise<object> => {
      const app = await this.#appOf(typeof agent === 'string' ? agent : agent.id, person);
      const name = `sesn_${randomUUID().replaceAll('-', '')}`;
      const id = app.isDefault ? name : `${app.name}:${name}`;
      const session = this.#context.session(id, person);
      await session.import([], { metadata: metadataOf(metadata), ...(title != null && { title }) });
      const found = await this.#find(id, person);
      if (first && first.length > 0) await this.#take(found, first, undefined);
      return objectOf(await this.#find(id, person));
    };
    sendJson(call.response, await this.#retries.once(given, create, async (answer) => answer));
  }

  async #list({ request }: PluginRequest, person: Person): Promise<object> {
    const query = queryOf(request.url);
    const limit = limitOf(query, 20, 100);
    const before = query.get('page');
    const apps = await this.#context.appsOf(person);
    const { sessions, cursor } = await this.#context.sessions(person, {
      limit,
      ...(before !== null && { before }),
    });
    const data = [];
    for (const summary of sessions) {
      const app = apps.find(({ name }) => name === summary.app);
      const agent = query.get('agent_id');
      if (!app || (agent !== null && (this.#options.agentMapping[agent] ?? agent) !== app.name)) continue;
      const id = app.isDefault
        ? summary.sessionId.slice(summary.sessionId.indexOf(':') + 1)
        : summary.sessionId;
      const state = await stateOf(this.#context.session(summary.sessionId, person));
      if (state) data.push(sessionObject(id, app, { state, ...timesIn(summary) }));
    }
    return { data, next_page: cursor, prev_page: null };
  }

  async #appOf(agent: string, person: Person): Promise<AppSummary> {
    const { agentMapping } = this.#options;
    const name = Object.hasOwn(agentMapping, agent) ? agentMapping[agent] : agent;
    const app = (await this.#context.appsOf(person)).find((each) => each.name === name);
    if (!app) throw notFound(`There is no agent ${JSON.stringify(agent)}`);
    return app;
  }

  /** @throws GatewayError `SESSION_NOT_FOUND` */
  async #find(id: string, person: Person): Promise<FoundSession> {
    const session = this.#context.session(id, person);
    const state = await stateOf(session);
    const name = id.includes(':') ? id.slice(0, id.indexOf(':')) : undefined;
    const apps = await this.#context.appsOf(person);
    const app = apps.find((each) => (name === undefined ? each.isDefault : each.name === name));
    if (!state || !app) throw notFound(`There is no session ${id}`);
    return { id, app, session, state };
  }

  async #update(call: PluginRequest, { id, session, state }: FoundSession): Promise<void> {
    const { title, metadata } = read(BODIES.update, await call.body());
    const merged = { ...state.metadata, ...metadata };
    const kept = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
    await session.update({ ...(title !== undefined && { title }), ...(metadata && { metadata: kept }) });
    sendJson(call.response, await objectOf(await this.#find(id, await call.authenticate())));
  }

  async #post(call: PluginRequest, person: Person, found: FoundSession): Promise<void> {
    const body = read(BODIES.events, await call.body());
    const { headers } = call.request;
    const key = headers['idempotency-key']?.toString();
    const given = { headers, person, body: [found.id, body] };
    const take = async (): Promise<object> => ({ data: await this.#take(found, body.events, key) });
    sendJson(call.response, await this.#retries.once(given, take, async (answer) => answer));
  }

  /** Performs events in their order. @throws GatewayError of the first that is refused */
  async #take(
    { session }: FoundSession,
    events: readonly GivenEvent[],
    key: string | undefined,
  ): Promise<ApiEvent[]> {
    const taken: ApiEvent[] = [];
    for (const [at, event] of events.entries()) {
      if (event.type === 'user.message') {
        taken.push(await this.#send(session, event, key === undefined ? undefined : `${key}:${at}`));
        continue;
      }
      const receipt = { ...event, id: `sevt_${randomUUID()}`, processed_at: null };
      if (event.type === 'user.interrupt') {
        const { session_thread_id: thread } = event;
        await session.abort({ reason: 'interrupted', ...(thread != null && { runId: runOfThread(thread) }) });
      } else {
        const asked = event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id;
        await handOver(session, await callOf(session, asked), answerOf(event));
      }
      taken.push(receipt);
    }
    return taken;
  }

  async #send(
    session: PluginSession,
    { content }: Extract<GivenEvent, { type: 'user.message' }>,
    idempotencyKey: string | undefined,
  ): Promise<ApiEvent> {
    const { onBusy } = this.#options;
    const keyed = idempotencyKey !== undefined && { idempotencyKey };
    const blocks = blocksOf(content);
    const said = blocks.length > 0 ? blocks : [{ type: 'text' as const, text: '' }];
    const { runId, cursor } = await session.send({ content: said }, { onBusy, ...keyed }).accepted;
    for await (const event of session.run(runId).events(cursor)) {
      const [frame] = event.type === 'message_accepted' ? new ApiWriter().take(event) : [];
      if (frame) return frame.event;
    }
    throw new GatewayError({ code: 'RUN_NOT_FOUND' });
  }

  async #stream(
    call: PluginRequest,
    { session, state }: FoundSession,
    thread: string | undefined,
  ): Promise<void> {
    const { request, response } = call;
    const query = queryOf(request.url);
    const deltas = new Set([...query.getAll('event_deltas[]'), ...query.getAll('event_deltas')]);
    const lastId = request.headers['last-event-id']?.toString() || undefined;
    try {
      await follow(session, state, { response, thread, lastId, deltas });
    } catch (error) {
      if (!response.headersSent) throw error;
      if (!isGatewayError(error)) this.#context.report(error, 'a stream of the sessions API failed');
      response.destroy();
    }
  }
}

async function objectOf({ id, app, session, state }: FoundSession): Promise<object> {
  return sessionObject(id, app, { state, ...(await timesOf(session, state)) });
}

function pageOf(events: readonly ApiEvent[], query: URLSearchParams): object {
  const types = new Set([...query.getAll('types[]'), ...query.getAll('types')]);
  const wanted = types.size === 0 ? [...events] : events.filter(({ type }) => types.has(type));
  if (query.get('order') === 'desc') wanted.reverse();
  const place = query.get('page');
  const start = place === null ? 0 : wanted.findIndex(({ id }) => id === place) + 1;
  if (place !== null && start === 0) throw fieldError('page', 'is no page of this list');
  const data = wanted.slice(start, start + limitOf(query, 1000, 1000));
  const isMore = start + data.length < wanted.length;
  return { data, next_page: isMore ? data.at(-1)!.id : null };
}

function limitOf(query: URLSearchParams, fallback: number, most: number): number {
  const given = query.get('limit');
  if (given === null) return fallback;
  if (/^\d{1,6}$/.test(given) && Number(given) > 0) return Math.min(Number(given), most);
  throw fieldError('limit', 'must be a number from 1');
}

function metadataOf(
  given: Readonly<Record<string, string | null>> | null | undefined,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

function notFound(message: string): GatewayError {
  return new GatewayError({ code: 'SESSION_NOT_FOUND', message });
}
