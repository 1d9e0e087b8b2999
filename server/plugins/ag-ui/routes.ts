import type { AgUiEvent } from '../../../shared/ag-ui/events.js';
import { heldOf, prefaced } from '../../../shared/ag-ui/stream.js';
import { AgUiWriter } from '../../../shared/ag-ui/writer.js';
import { GatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { sendJson } from '../conversation/answering.js';
import { currentRun, keyOf } from '../conversation/conversation.js';
import { fieldError } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import { stateOf, stop } from '../conversation/state.js';
import { only, partsOf, queryOf } from '../conversation/urls.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { hydration } from './hydration.js';
import { type AgUiRequest, readAgUiRequest } from './request.js';
import { AgUiRuns, TANSTACK } from './runs.js';
import { readingOf, startOf, tellEvents, tellRun } from './segment.js';
import { AgUiSocket } from './socket.js';

/** The parts that the routes use. */
export interface AgUiRoutesOptions {
  readonly path: string;
  readonly conversation: ConversationOptions;
}

/** The message of CopilotKit's runtime for a stopped run. */
const STOPPED = 'STOPPED';

/** The subject of a request, in either of its two forms. */
interface Called {
  readonly method: 'run' | 'connect' | 'stop' | 'info';
  readonly app: string;
  readonly threadId: string;
  readonly body: unknown;
}

/** The routes of agents, and of the runtime that CopilotKit expects. */
export class AgUiRoutes {
  readonly #context: PluginContext;
  readonly #options: AgUiRoutesOptions;
  readonly #runs: AgUiRuns;

  constructor(context: PluginContext, options: AgUiRoutesOptions) {
    this.#context = context;
    this.#options = options;
    this.#runs = new AgUiRuns(context, options.conversation);
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    const method = call.request.method ?? '';
    const rest = call.path.slice(this.#options.path.length + 1);
    if (rest === 'info') {
      only('GET', call);
      return this.#info(call, await call.authenticate());
    }
    const named = pathOf(rest);
    if (!named) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    if (method === 'GET' && named !== 'single' && named.method === 'run') return this.#open(call, named.app);
    only('POST', call);
    const person = await call.authenticate();
    const body = await call.body();
    const called = named === 'single' ? singleOf(body) : { ...named, body };
    switch (called.method) {
      case 'info':
        return this.#info(call, person);
      case 'stop':
        return this.#stop(call, person, called);
      case 'connect':
        return this.#connect(call, person, called);
      default:
        return this.#run(call, person, called);
    }
  }

  #session(app: string, threadId: string, person: Person): PluginSession {
    return this.#context.session(`${app}:${threadId}`, person);
  }

  async #info({ response }: PluginRequest, person: Person): Promise<void> {
    const apps = await this.#context.appsOf(person);
    const agents = apps.map(({ name, description = '' }) => [
      name,
      { name, description, className: 'HttpAgent' },
    ]);
    sendJson(response, {
      version: '1.0.0',
      agents: Object.fromEntries(agents),
      audioFileTranscriptionEnabled: false,
      mode: 'sse',
      threadEndpoints: { list: false, inspect: false, mutations: false, realtimeMetadata: false },
      suggestions: false,
      a2uiEnabled: false,
      openGenerativeUIEnabled: false,
      telemetryDisabled: true,
    });
  }

  async #run({ request, response }: PluginRequest, person: Person, { app, body }: Called): Promise<void> {
    const { headers } = request;
    const reading = readingOf(request);
    // TanStack AI sends this header. It may come back with only the id of its run.
    const isNoted = headers['x-run-id'] !== undefined;
    const given = readAgUiRequest(body);
    const key = headers['idempotency-key']?.toString();
    const options = { app, key, resumes: !!reading.last, isNoted };
    const run = await this.#runs.post(person, isNoted ? { ...given, ...TANSTACK } : given, options);
    return this.#runs.tell({ response }, run, reading);
  }

  /** Serves a newly opened page of TanStack AI: the messages so far, or the run in progress. */
  async #open(call: PluginRequest, app: string): Promise<void> {
    const person = await call.authenticate();
    const { request, response } = call;
    const query = queryOf(request.url);
    const [threadId, runId] = [query.get('threadId'), query.get('runId')];
    if (query.get('offset') !== null && runId !== null)
      return this.#runs.join({ response }, person, { id: runId, isWhole: true }, readingOf(request));
    if (threadId === null) throw fieldError('threadId', 'must name a thread');
    sendJson(response, await hydration(this.#session(app, threadId, person), { threadId, query }));
  }

  /** Serves a WebSocket of TanStack AI. @throws GatewayError */
  accept(upgrade: PluginUpgrade): AgUiSocket {
    const named = pathOf(upgrade.path.slice(this.#options.path.length + 1));
    if (!named || named === 'single' || named.method !== 'run')
      throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    return new AgUiSocket(this.#runs, named.app, upgrade);
  }

  /** Tells the thread and its current run. */
  async #connect({ response }: PluginRequest, person: Person, { app, body }: Called): Promise<void> {
    const names = readAgUiRequest(body);
    const session = this.#session(app, names.threadId, person);
    const state = await stateOf(session);
    if (!state) return tellEvents({ response }, []);
    const runId = currentRun(state);
    if (runId === undefined) {
      const before = state.messages.map(heldOf);
      const truth = { before, answerId: '', told: [], whole: true };
      return tellEvents({ response }, ended(names, prefaced(names.messages, truth)));
    }
    const { cursor } = await session.run(runId).status();
    const place = startOf(state, { runId, cursor });
    const telling = { runId, told: 'whole', names, given: names.messages, whole: true, ...place } as const;
    return tellRun({ response }, session, telling, { report: this.#context.report });
  }

  async #stop({ response }: PluginRequest, person: Person, { app, threadId, body }: Called): Promise<void> {
    const { runId: theirs } = (body ?? {}) as { readonly runId?: unknown };
    const session = this.#session(app, threadId, person);
    // Only the client knows the id of a run that continues another, which is then the active one.
    const sent = typeof theirs === 'string' ? await session.sent(keyOf(theirs)) : null;
    const stopped = await stop(session, sent?.runId);
    const message = stopped ? 'The answer was stopped' : 'Nothing runs in this thread';
    const interrupt = { type: 'RUN_ERROR', message, code: STOPPED };
    sendJson(response, stopped ? { stopped, interrupt } : { stopped, message });
  }
}

function ended(names: AgUiRequest, events: readonly AgUiEvent[]): AgUiEvent[] {
  const writer = new AgUiWriter(names, { tellsAnswers: true });
  return [...writer.start(), ...events, ...writer.pause()];
}

/** The subject of a path below the plugin's; null if there is none. */
function pathOf(rest: string): Omit<Called, 'body'> | 'single' | null {
  if (rest === '') return 'single';
  const [root, app = '', action = 'run', threadId = '', ...more] = partsOf(rest);
  if (root !== 'agent' || app === '' || more.length > 0) return null;
  if (action === 'stop') return threadId === '' ? null : { method: action, app, threadId };
  return (action === 'run' || action === 'connect') && threadId === ''
    ? { method: action, app, threadId }
    : null;
}

const METHODS = {
  info: 'info',
  'agent/run': 'run',
  'agent/connect': 'connect',
  'agent/stop': 'stop',
} as const;

/** The single route for all requests. @throws GatewayError `INVALID_REQUEST` */
function singleOf(body: unknown): Called {
  const { method, params, body: inner } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof method !== 'string' || !Object.hasOwn(METHODS, method))
    throw fieldError('method', `must be one of ${Object.keys(METHODS).join(', ')}`);
  const { agentId = '', threadId = '' } = (params ?? {}) as Readonly<Record<string, unknown>>;
  const called = METHODS[method as keyof typeof METHODS];
  if (called !== 'info' && (typeof agentId !== 'string' || agentId === ''))
    throw fieldError('params.agentId', 'must name an agent');
  if (called === 'stop' && (typeof threadId !== 'string' || threadId === ''))
    throw fieldError('params.threadId', 'must name a thread');
  return { method: called, app: String(agentId), threadId: String(threadId), body: inner };
}
