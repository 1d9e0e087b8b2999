import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import type { MessageInput } from '../../../shared/messages.js';
import type { SessionSummary } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import { sendBody, sendList } from '../conversation/answering.js';
import { codeOf, fieldError } from '../conversation/errors.js';
import { notTaken, type RouteHandler, type RouteRequest, type RouteTable } from '../conversation/routing.js';
import { beganAt } from '../conversation/runs.js';
import type { PluginContext } from '../plugin.js';
import { type BodyOf, readAmount, readBody } from './bodies.js';
import { checkpointId, placeBehind } from './checkpoints.js';
import { readUpdate } from './input.js';
import { toLangChain } from './messages.js';
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

  get table(): RouteTable {
    const history: RouteHandler = (asked, id) => this.#history(asked, id);
    return {
      'POST threads': (asked) => this.#create(asked),
      'POST threads/search': async ({ call, person }) =>
        this.#search(person, await readBody(call, 'threads')),
      'POST threads/count': async ({ call, person }) => {
        const { limit: _, offset: __, ...query } = await readBody(call, 'threads');
        return (await this.#search(person, { ...query, limit: Number.POSITIVE_INFINITY })).length;
      },
      'GET threads/{id}': async ({ person }, id) => begunThread(await this.#threads.get(person, id)),
      'PATCH threads/{id}': async ({ call, person }, id) => {
        const { session, state } = await this.#threads.get(person, id);
        const { metadata } = await readBody(call, 'thread');
        if (metadata) await session.update({ metadata: { ...state.metadata, ...metadata } });
        return begunThread(await this.#threads.get(person, id));
      },
      'DELETE threads/{id}': async ({ call, person }, id) => {
        await (await this.#threads.get(person, id)).session.delete();
        call.response.writeHead(204).end();
      },
      'GET threads/{id}/history': history,
      'POST threads/{id}/history': history,
      'GET threads/{id}/state': (asked, id) => this.#state(asked, id),
      'GET threads/{id}/state/{checkpoint}': (asked, id, checkpoint) => this.#state(asked, id, checkpoint),
      'POST threads/{id}/state': (asked, id) => this.#update(asked, id),
      'POST threads/{id}/state/checkpoint': async (asked, id) => {
        const { checkpoint } = await readBody(asked.call, 'state');
        return this.#state(asked, id, checkpoint?.checkpoint_id ?? undefined);
      },
      'PATCH threads/{id}/state': notTaken('A state is read by GET, and updated by POST'),
      'POST threads/{id}/copy': async ({ person }, id) => {
        const { session, app } = await this.#threads.get(person, id);
        const to = randomUUID();
        await session.fork(`${app}:${to}`);
        return threadIn(await this.#threads.get(person, to));
      },
    };
  }

  /** Begins a thread in which no run was yet. */
  async #create({ call, person }: RouteRequest): Promise<object> {
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
    return begunThread(thread);
  }

  async #state({ call, person }: RouteRequest, id: string, checkpoint?: string): Promise<unknown> {
    const thread = await whole(await this.#threads.get(person, id));
    if (checkpoint === undefined) return stateIn(thread);
    const [found] = historyIn(thread, { limit: 1, at: checkpoint });
    if (!found) throw new GatewayError({ code: 'MESSAGE_NOT_FOUND', message: 'There is no such checkpoint' });
    return sendBody(call.response, 'application/json', found);
  }

  /** Adds messages behind the last one, and takes others back. */
  async #update({ call, person }: RouteRequest, id: string): Promise<object> {
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
    return { checkpoint: place, configurable: place };
  }

  async #history({ call, person, query }: RouteRequest, id: string): Promise<unknown> {
    const body: BodyOf<'history'> =
      call.request.method === 'POST'
        ? await readBody(call, 'history')
        : { limit: readAmount(query, 'limit', 10) };
    const { limit, before, checkpoint } = body;
    const thread = await this.#threads.find(person, id);
    // There are no namespaces below the root.
    if (!thread || checkpoint?.checkpoint_ns) return [];
    const place =
      typeof before === 'string' ? before : (before?.checkpoint_id ?? before?.configurable?.checkpoint_id);
    const states = historyIn(await whole(thread), {
      ...(limit !== undefined && { limit }),
      ...(place != null && { before: place }),
    });
    return sendList(call.response, states);
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
  const isSaid = thread.state.messages.length > 0;
  return threadIn(thread, isSaid ? undefined : await beganAt(thread.session));
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
