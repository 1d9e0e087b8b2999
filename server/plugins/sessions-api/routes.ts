import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { AppNames } from '../conversation/app-names.js';
import { handOver } from '../conversation/asked.js';
import { answerable } from '../conversation/compare.js';
import { fieldError, read } from '../conversation/errors.js';
import { pageBehind } from '../conversation/pages.js';
import { ClientRetries } from '../conversation/retries.js';
import { notTaken, type RouteRequest, Router } from '../conversation/routing.js';
import { stateOf } from '../conversation/state.js';
import { tell } from '../conversation/told-segment.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { callOf, dialectOf, keptEvents, startOf } from './following.js';
import type { ApiEvent } from './frames.js';
import { runOfThread } from './ids.js';
import { sessionObject, threadObjects, timesOf } from './objects.js';
import type { SessionsApiOptions } from './plugin.js';
import { answerOf, BODIES, blocksOf, type GivenEvent } from './request.js';
import { ApiWriter } from './writer.js';

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
  readonly #options: Required<SessionsApiOptions>;
  readonly #agents: AppNames;
  readonly #retries: ClientRetries<object, object>;
  readonly #router: Router;

  /** @throws GatewayError `INVALID_REQUEST` when the mapping names an unknown app */
  constructor(context: PluginContext, options: Required<SessionsApiOptions>) {
    this.#context = context;
    this.#options = options;
    this.#agents = new AppNames(context, 'agentMapping', options.agentMapping);
    this.#retries = new ClientRetries(context.peers, (answer: object) => answer);
    const of =
      (serve: (asked: RouteRequest, found: FoundSession, run?: string) => Promise<unknown>) =>
      async (asked: RouteRequest, id: string, thread?: string) => {
        const found = await this.#find(id, asked.person);
        const run = thread === undefined ? undefined : runOfThread(thread);
        if (run === '') throw notFound(`There is no thread ${thread}`);
        return serve(asked, found, run);
      };
    const events = of(async ({ query }, { session }, run) => pageOf(await keptEvents(session, run), query));
    const stream = of((asked, found, run) => this.#stream(asked, found, run));
    this.#router = new Router(options.path, {
      GET: (asked) => this.#list(asked),
      POST: (asked) => this.#create(asked),
      DELETE: notTaken('This route takes GET and POST'),
      'GET {id}': of((_, found) => objectOf(found)),
      'POST {id}': of((asked, found) => this.#update(asked, found)),
      'DELETE {id}': of(async (_, { id, session }) => {
        await session.delete();
        return { id, type: 'session_deleted' };
      }),
      'POST {id}/archive': of(async ({ person }, { id, session }) => {
        await session.update({ archived: true });
        return objectOf(await this.#find(id, person));
      }),
      'POST {id}/events': of((asked, found) => this.#post(asked, found)),
      'GET {id}/events': events,
      'GET {id}/threads/{thread}/events': events,
      'GET {id}/events/stream': stream,
      'GET {id}/threads/{thread}/stream': stream,
      'GET {id}/threads/{thread}/events/stream': stream,
      'GET {id}/threads': of(async (_, { id, state }) => ({
        data: threadObjects(id, state),
        next_page: null,
      })),
      'GET {id}/threads/{thread}': of(async (_, { id, state }, run) => {
        const thread = threadObjects(id, state).find((each) => runOfThread(each.id) === run);
        return thread ?? Promise.reject(notFound(`There is no thread of ${run} that is under way`));
      }),
    });
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    const { headers } = call.request;
    // The vendor's clients send their key in a header of its own.
    const key = headers['x-api-key'];
    if (typeof key === 'string') headers.authorization ??= `Bearer ${key}`;
    await this.#router.serve(call);
  }

  async #create({ call, person }: RouteRequest): Promise<object> {
    const body = read(BODIES.create, await call.body());
    const { agent, title, metadata, initial_events: first } = body;
    const create = async (): Promise<object> => {
      const named = typeof agent === 'string' ? agent : agent.id;
      const app = await this.#agents.find(named, person);
      if (!app) throw notFound(`There is no agent ${JSON.stringify(named)}`);
      const name = `${app.name}:sesn_${randomUUID().replaceAll('-', '')}`;
      const session = this.#context.session(name, person);
      await session.import([], { metadata: withoutNulls(metadata), ...(title != null && { title }) });
      await this.#take(session, first ?? [], undefined);
      return objectOf(await this.#find(session.id, person));
    };
    const given = { headers: call.request.headers, person, body };
    return this.#retries.once(given, create, async (answer) => answer);
  }

  async #list({ person, query }: RouteRequest): Promise<object> {
    const limit = limitOf(query, 20, 100);
    const before = query.get('page');
    const agent = query.get('agent_id');
    const wanted = agent === null ? null : await this.#agents.find(agent, person);
    const apps = await this.#context.appsOf(person);
    const page = { limit, ...(before !== null && { before }) };
    const { sessions, cursor } = await this.#context.sessions(person, page);
    const data = [];
    for (const summary of sessions) {
      const app = apps.find(({ name }) => name === summary.app);
      if (!app || (wanted !== null && wanted?.name !== app.name)) continue;
      const state = await stateOf(this.#context.session(summary.sessionId, person));
      if (state) data.push(sessionObject(summary.sessionId, app, state, summary));
    }
    return { data, next_page: cursor, prev_page: null };
  }

  /** @throws GatewayError `SESSION_NOT_FOUND` */
  async #find(id: string, person: Person): Promise<FoundSession> {
    const session = this.#context.session(id, person);
    const state = await stateOf(session);
    const [name] = id.includes(':') ? id.split(':') : [];
    const apps = await this.#context.appsOf(person);
    const app = apps.find((each) => (name === undefined ? each.isDefault : each.name === name));
    if (!state || !app) throw notFound(`There is no session ${id}`);
    return { id, app, session, state };
  }

  async #update({ call, person }: RouteRequest, { id, session, state }: FoundSession): Promise<object> {
    const { title, metadata } = read(BODIES.update, await call.body());
    const kept = metadata && { metadata: withoutNulls({ ...state.metadata, ...metadata }) };
    await session.update({ ...(title !== undefined && { title }), ...kept });
    return objectOf(await this.#find(id, person));
  }

  async #post({ call, person }: RouteRequest, { id, session }: FoundSession): Promise<object> {
    const body = read(BODIES.events, await call.body());
    const { headers } = call.request;
    const key = headers['idempotency-key']?.toString();
    const take = async (): Promise<object> => ({ data: await this.#take(session, body.events, key) });
    return this.#retries.once({ headers, person, body: [id, body] }, take, async (answer) => answer);
  }

  /** Performs events in their order. @throws GatewayError of the first that is refused */
  async #take(
    session: PluginSession,
    events: readonly GivenEvent[],
    key: string | undefined,
  ): Promise<ApiEvent[]> {
    const taken: ApiEvent[] = [];
    for (const [at, event] of events.entries()) {
      const receipt = { ...event, id: `sevt_${randomUUID()}`, processed_at: null };
      if (event.type === 'user.message') {
        taken.push(await this.#send(session, event, key === undefined ? undefined : `${key}:${at}`));
        continue;
      }
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
    const message = answerable({ content: blocksOf(content) });
    const { runId, cursor } = await session.send(message, { onBusy, ...keyed }).accepted;
    for await (const event of session.run(runId).events(cursor))
      if (event.type === 'message_accepted') return new ApiWriter().take(event)[0]!.event;
    throw new GatewayError({ code: 'RUN_NOT_FOUND' });
  }

  async #stream(
    { call: { request, response }, query }: RouteRequest,
    { session, state }: FoundSession,
    thread: string | undefined,
  ): Promise<void> {
    const deltas = listIn(query, 'event_deltas');
    const lastId = request.headers['last-event-id']?.toString() || undefined;
    const from = await startOf(session, state, lastId);
    const { report } = this.#context;
    const dialect = dialectOf({ thread, lastId, deltas }, state.cursor);
    await tell({ response }, session, dialect, { from, follows: true, report });
  }
}

async function objectOf({ id, app, session, state }: FoundSession): Promise<object> {
  return sessionObject(id, app, state, await timesOf(session, state));
}

function pageOf(events: readonly ApiEvent[], query: URLSearchParams): object {
  const types = listIn(query, 'types');
  const wanted = events.filter(({ type }) => types.size === 0 || types.has(type));
  if (query.get('order') === 'desc') wanted.reverse();
  const page = pageBehind(wanted, { after: query.get('page'), limit: limitOf(query, 1000, 1000) });
  if (!page) throw fieldError('page', 'is no page of this list');
  return { data: page.data, next_page: page.hasMore ? page.data.at(-1)!.id : null };
}

/** The values of a query's list, which clients write with brackets or without. */
function listIn(query: URLSearchParams, name: string): ReadonlySet<string> {
  return new Set([...query.getAll(`${name}[]`), ...query.getAll(name)]);
}

function limitOf(query: URLSearchParams, fallback: number, most: number): number {
  const given = query.get('limit');
  if (given === null) return fallback;
  if (/^\d{1,6}$/.test(given) && Number(given) > 0) return Math.min(Number(given), most);
  throw fieldError('limit', 'must be a number from 1');
}

function withoutNulls(given: Readonly<Record<string, unknown>> | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null));
}

function notFound(message: string): GatewayError {
  return new GatewayError({ code: 'SESSION_NOT_FOUND', message });
}
