import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import type { MessageInput } from '../../../shared/messages.js';
import type { SessionSummary } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import { sendBody, sendJson, sendList } from '../conversation/answering.js';
import { codeOf, fieldError } from '../conversation/errors.js';
import type { PluginContext } from '../plugin.js';
import { type BodyOf, readAmount, readBody } from './bodies.js';
import { checkpointId, placeBehind } from './checkpoints.js';
import { readUpdate } from './input.js';
import { toLangChain } from './messages.js';
import type { RouteRequest } from './routes.js';
import { historyIn, iso, stateIn, statusOf, threadIn } from './states.js';
import { type Thread, type Threads, threadIdOf, whole } from './threads.js';

const PAGE = 100;

/** The classic routes of threads: lists, states, and metadata. */
export class ThreadRoutes {
  readonly #context: PluginContext;
  readonly #threads: Threads;

  constructor(context: PluginContext, threads: Threads) {
    this.#context = context;
    this.#threads = threads;
  }

  /** @throws GatewayError */
  async serve(asked: RouteRequest, id: string, [what, ...rest]: readonly string[]): Promise<void> {
    const { call, person, method } = asked;
    const { response } = call;
    if (id === '' && method === 'POST') return this.#create(asked);
    if (id === 'search' && method === 'POST')
      return sendJson(response, await this.#search(person, await readBody(call, 'threads')));
    if (id === 'count' && method === 'POST') {
      const { limit: _, offset: __, ...query } = await readBody(call, 'threads');
      const all = await this.#search(person, { ...query, limit: Number.POSITIVE_INFINITY });
      return sendJson(response, all.length);
    }
    if (what === undefined) return this.#thread(asked, id);
    if (what === 'history' && method !== 'PATCH') return this.#history(asked, id);
    if (what === 'state' && method === 'GET') return this.#state(asked, id, rest[0]);
    if (what === 'state' && rest[0] === 'checkpoint' && method === 'POST') {
      const { checkpoint } = await readBody(call, 'state');
      return this.#state(asked, id, checkpoint?.checkpoint_id ?? undefined);
    }
    if (what === 'state' && rest.length === 0 && method === 'POST') return this.#update(asked, id);
    if (what === 'state')
      throw new GatewayError({
        code: 'METHOD_NOT_ALLOWED',
        message: 'A state is read by GET, and updated by POST',
      });
    if (what === 'copy' && method === 'POST') return this.#copy(asked, id);
    throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
  }

  /** Begins a thread in which no run was yet. */
  async #create({ call, person }: RouteRequest): Promise<void> {
    const { thread_id, if_exists, metadata, supersteps } = await readBody(call, 'thread');
    const updates = (supersteps ?? []).flatMap((step) => step.updates);
    const messages = updates.flatMap(({ values }) => readUpdate(values).messages);
    // The SDK writes the graph into the metadata.
    const { graph_id: graph, ...given } = metadata ?? {};
    const apps = await this.#context.appsOf(person);
    const app = apps.find(({ name }) => name === graph)?.name;
    const id = thread_id ?? randomUUID();
    const known = async (): Promise<Thread | null> => {
      const thread = await this.#threads.find(person, id);
      if (thread && if_exists !== 'do_nothing')
        throw new GatewayError({ code: 'SESSION_EXISTS', message: `There is a thread ${id} already` });
      return thread;
    };
    let thread = await known();
    if (!thread) {
      try {
        await this.#threads.begin(person, id, { app, metadata: given, messages });
      } catch (error) {
        // Another request was first.
        if (codeOf(error) !== 'SESSION_EXISTS' || !(await known())) throw error;
      }
      thread = await this.#threads.get(person, id);
    }
    sendJson(call.response, await begunThread(thread));
  }

  async #thread({ call, person, method }: RouteRequest, id: string): Promise<void> {
    const thread = await this.#threads.get(person, id);
    if (method === 'DELETE') {
      await thread.session.delete();
      call.response.writeHead(204).end();
      return;
    }
    if (method === 'PATCH') {
      const { metadata } = await readBody(call, 'thread');
      if (metadata) await thread.session.update({ metadata: { ...thread.state.metadata, ...metadata } });
      return sendJson(call.response, await begunThread(await this.#threads.get(person, id)));
    }
    sendJson(call.response, await begunThread(thread));
  }

  async #state({ call, person }: RouteRequest, id: string, checkpoint: string | undefined): Promise<void> {
    const thread = await whole(await this.#threads.get(person, id));
    if (checkpoint === undefined) return sendJson(call.response, stateIn(thread));
    const [found] = historyIn(thread, { limit: 1, at: checkpoint });
    if (!found) throw new GatewayError({ code: 'MESSAGE_NOT_FOUND', message: 'There is no such checkpoint' });
    sendBody(call.response, 'application/json', found);
  }

  /** Adds messages behind the last one, and takes others back. */
  async #update({ call, person }: RouteRequest, id: string): Promise<void> {
    const {
      values,
      checkpoint,
      checkpoint_id: at = checkpoint?.checkpoint_id,
    } = await readBody(call, 'update');
    const { session, state } = await whole(await this.#threads.get(person, id));
    const last = state.messages.at(-1);
    if (at != null && at !== (last ? placeBehind(last) : checkpointId(0, null)))
      throw fieldError('checkpoint_id', 'must be the last one: a state is updated at its end');
    const { messages, removed } = readUpdate(values, toLangChain(state.messages));
    if (messages.length > 0) await session.append(messages as readonly MessageInput[]);
    for (const messageId of removed) await session.retract(messageId);
    const place = stateIn(await this.#threads.get(person, id)).checkpoint;
    sendJson(call.response, { checkpoint: place, configurable: place });
  }

  async #history({ call, person, method, query }: RouteRequest, id: string): Promise<void> {
    const body: BodyOf<'history'> =
      method === 'POST' ? await readBody(call, 'history') : { limit: readAmount(query, 'limit', 10) };
    const { limit, before, checkpoint } = body;
    const thread = await this.#threads.find(person, id);
    // There are no namespaces below the root.
    if (!thread || checkpoint?.checkpoint_ns) return sendJson(call.response, []);
    const place =
      typeof before === 'string' ? before : (before?.checkpoint_id ?? before?.configurable?.checkpoint_id);
    const states = historyIn(await whole(thread), {
      ...(limit !== undefined && { limit }),
      ...(place != null && { before: place }),
    });
    await sendList(call.response, states);
  }

  async #copy({ call, person }: RouteRequest, id: string): Promise<void> {
    const thread = await this.#threads.get(person, id);
    const to = randomUUID();
    await thread.session.fork(`${thread.app}:${to}`);
    sendJson(call.response, threadIn(await this.#threads.get(person, to)));
  }

  async #search(person: Person, query: BodyOf<'threads'>): Promise<object[]> {
    const { limit = 10, offset = 0 } = query;
    const found: object[] = [];
    let passed = 0;
    let before: string | undefined;
    do {
      const page = await this.#context.sessions(person, {
        limit: PAGE,
        ...(before !== undefined && { before }),
      });
      for (const summary of page.sessions) {
        if (found.length >= limit) return found;
        if (!matches(summary, query)) continue;
        const thread = await this.#threads.find(person, threadIdOf(summary.sessionId));
        if (!thread || (query.status != null && statusOf(thread) !== query.status)) continue;
        if (passed++ >= offset) found.push(listed(thread, summary));
      }
      before = page.cursor ?? undefined;
    } while (before !== undefined);
    return found;
  }
}

/** A thread, with the time at which it began. */
async function begunThread(thread: Thread): Promise<object> {
  if (thread.state.messages.length > 0) return threadIn(thread);
  for await (const { ts } of thread.session.events({ from: 'earliest' }))
    if (ts !== undefined) return threadIn(thread, ts);
  return threadIn(thread);
}

function matches({ sessionId, app, metadata }: SessionSummary, query: BodyOf<'threads'>): boolean {
  if (Array.isArray(query.ids) && !query.ids.includes(threadIdOf(sessionId))) return false;
  const known: Readonly<Record<string, unknown>> = { ...metadata, graph_id: app, assistant_id: app };
  return Object.entries(query.metadata ?? {}).every(
    ([name, value]) => JSON.stringify(known[name]) === JSON.stringify(value),
  );
}

function listed(thread: Thread, { createdAt, updatedAt, title }: SessionSummary): object {
  const named = title !== undefined && { title };
  const base = threadIn(thread) as { readonly metadata: object };
  return {
    ...base,
    metadata: { ...named, ...base.metadata },
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
  };
}
