import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { PendingQuestion } from '../../../shared/fold.js';
import type { RunInfo } from '../../../shared/operation-types.js';
import { failureOf } from '../../../shared/run-failure.js';
import { sendJson } from '../conversation/answering.js';
import { fieldError } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import type { RouteHandler, RouteRequest, RouteTable } from '../conversation/routing.js';
import { runIn, runsIn } from '../conversation/runs.js';
import { tell, tellAll } from '../conversation/told-segment.js';
import type { PluginContext } from '../plugin.js';
import { type BodyOf, readAmount, readBody } from './bodies.js';
import { assertApp, refusalOf, respond } from './commands.js';
import { type EventStart, frameDialect, segmentNow, seqOfId, startOf } from './events.js';
import { runOf, segmentId } from './frames.js';
import { readStart } from './input.js';
import { toLangChain } from './messages.js';
import { RunTeller, readModes, type StreamMode } from './run-teller.js';
import { begin } from './starting.js';
import { iso } from './states.js';
import { type Thread, type Threads, whole } from './threads.js';

/** A client's run, in a thread that has begun. */
interface BegunRun {
  readonly thread: Thread;
  readonly id: string;
}

/** The classic routes of runs. */
export class Runs {
  readonly #context: PluginContext;
  readonly #threads: Threads;
  readonly #options: ConversationOptions;

  constructor(context: PluginContext, threads: Threads, options: ConversationOptions) {
    this.#context = context;
    this.#threads = threads;
    this.#options = options;
  }

  get table(): RouteTable {
    const of =
      (serve: (asked: RouteRequest, begun: BegunRun, info: RunInfo) => Promise<unknown>): RouteHandler =>
      async (asked, threadId, id) => {
        const begun = { thread: await this.#threads.get(asked.person, threadId), id: id! };
        const info = await statusOf(begun);
        await assertBegun(begun);
        return serve(asked, begun, info);
      };
    return {
      'POST threads/{id}/runs': async (asked, threadId) => {
        const { begun } = await this.#post(asked, threadId);
        return runObject(begun, await statusOf(begun));
      },
      'POST threads/{id}/runs/stream': async (asked, threadId) => {
        const { begun, modes, body } = await this.#post(asked, threadId);
        const endsByLeaving = this.#options.onLeave === 'abort' && body.on_disconnect !== 'continue';
        await this.#stream(asked, begun, modes, endsByLeaving);
      },
      'POST threads/{id}/runs/wait': async (asked, threadId) =>
        this.#ended((await this.#post(asked, threadId)).begun),
      'GET threads/{id}/runs': (asked, threadId) => this.#list(asked, threadId),
      'GET threads/{id}/runs/{run}': of(async (_, begun, info) => runObject(begun, info)),
      'GET threads/{id}/runs/{run}/join': of((_, begun) => this.#ended(begun)),
      'GET threads/{id}/runs/{run}/stream': of((asked, begun) =>
        this.#stream(asked, begun, modesIn(asked.query)),
      ),
      'POST threads/{id}/runs/{run}/cancel': of((asked, begun) => this.#cancel(asked, begun)),
    };
  }

  async #post(asked: RouteRequest, threadId: string) {
    const body = await readBody(asked.call, 'run');
    // Before anything begins.
    const modes = readModes(body.stream_mode ?? 'values');
    const begun = await this.#begin(asked, threadId, body);
    asked.call.response.setHeader('Content-Location', `/threads/${threadId}/runs/${begun.id}`);
    return { begun, modes, body };
  }

  async #begin({ person }: RouteRequest, threadId: string, body: BodyOf<'run'>): Promise<BegunRun> {
    try {
      if (body.command?.resume !== undefined) {
        const asked = await this.#threads.find(person, threadId);
        if (asked) return await resumed(asked, body.command.resume);
      }
      const start = readStart({
        ...body,
        config: { ...body.config, configurable: { ...body.config?.configurable, ...placeIn(body) } },
        multitaskStrategy: body.multitask_strategy,
      });
      const thread = await this.#threads.forRun(person, threadId, start.app);
      assertApp(thread, start.app);
      const session = thread?.session ?? this.#threads.open(person, threadId, start.app);
      const { runId } = await begin(session, thread, start, this.#options);
      // The conversation may now go on from another message.
      return { thread: await this.#threads.get(person, threadId), id: runId };
    } catch (error) {
      const refused = isGatewayError(error) ? null : refusalOf(error);
      throw refused ? new GatewayError({ code: 'INVALID_REQUEST', message: refused.message }) : error;
    }
  }

  async #stream(
    { call, query }: RouteRequest,
    { thread, id }: BegunRun,
    modes: readonly StreamMode[],
    endsByLeaving = false,
  ): Promise<void> {
    const { request, response } = call;
    const { runId } = runOf(id);
    const { state } = await whole(thread);
    const start = await startOf(thread.session, state, runId);
    const { epoch } = await thread.session.status();
    const last = request.headers['last-event-id'];
    const heard = seqOfId(last === undefined ? undefined : String(last), epoch);
    response.setHeader('Location', `/threads/${thread.id}/runs/${id}/stream?${modeQuery(modes)}`);
    const teller = new RunTeller({ id, threadId: thread.id, modes, since: heard ?? -1 });
    const left = await leftBy({ thread: { ...thread, state }, id }, start);
    if (left) return tellAll({ response }, `${teller.start}${teller.end(left)}`);
    await tell({ response }, thread.session, frameDialect(start.state, teller), {
      from: start.from,
      leaving: endsByLeaving || query.get('cancel_on_disconnect') === '1' ? runId : undefined,
      report: this.#context.report,
    });
  }

  /** The values that a run leaves behind. */
  async #ended({ thread: begun, id }: BegunRun): Promise<unknown> {
    const thread = await whole(begun);
    const start = await startOf(thread.session, thread.state, runOf(id).runId);
    const left = await leftBy({ thread, id }, start);
    if (left) return left;
    const teller = new RunTeller({ id, threadId: thread.id, modes: [], since: -1 });
    await thread.session.stream(frameDialect(start.state, teller), { from: start.from }).over;
    return teller.values;
  }

  async #list({ person, query }: RouteRequest, threadId: string): Promise<object> {
    const thread = await this.#threads.get(person, threadId);
    const wanted = query.get('status');
    const isOpen = wanted === 'pending' || wanted === 'running';
    const { state } = isOpen ? thread : await whole(thread);
    const [limit, offset] = [readAmount(query, 'limit', 10), readAmount(query, 'offset', 0)];
    const runs = [];
    for (const id of runsIn(state)) {
      if (runs.length >= limit + offset) break;
      // Messages that a fork copied name runs of the other session, which this one does not have.
      const info = await runIn(thread.session, id);
      const listed = info && runObject({ thread, id }, info);
      if (listed && (wanted === null || listed.status === wanted)) runs.push(listed);
    }
    return runs.slice(offset);
  }

  async #cancel({ call, query }: RouteRequest, { thread, id }: BegunRun): Promise<void> {
    const { runId } = runOf(id);
    await thread.session.abort({ runId, reason: query.get('reason') ?? 'stopped' });
    if (query.get('wait') === '1') await thread.session.run(runId).result;
    sendJson(call.response, {}, query.get('wait') === '1' ? 200 : 202);
  }
}

/** No run exists yet behind an unanswered question. @throws GatewayError `RUN_NOT_FOUND` */
async function assertBegun({ thread: { session, state }, id }: BegunRun): Promise<void> {
  const { runId, segment } = runOf(id);
  if (segment === 0) return;
  const start = await startOf(session, state, runId);
  if (start.from === 'snapshot' || segment <= (await segmentNow(session, start))) return;
  throw new GatewayError({ code: 'RUN_NOT_FOUND', message: `There is no run ${id}` });
}

/** The values of an ended run whose events are no longer kept; null if they are kept, or it has not ended. */
async function leftBy({ thread, id }: BegunRun, { from }: EventStart): Promise<object | null> {
  if (from !== 'snapshot') return null;
  const { result } = await statusOf({ thread, id });
  if (!result) return null;
  const { messages } = thread.state;
  const at = messages.findIndex(({ runId }) => runId === result.runId);
  return { messages: toLangChain([...(at < 0 ? messages : messages.slice(0, at)), result.message]) };
}

/** Some versions of clients write the modes as JSON. */
function modesIn(query: URLSearchParams): readonly StreamMode[] {
  const given = query.getAll('stream_mode').flatMap((text) => text.match(/[\w-]+/g) ?? []);
  return given.length > 0 ? readModes(given) : ['values', 'messages-tuple', 'custom'];
}

function modeQuery(modes: readonly StreamMode[]): string {
  return new URLSearchParams(modes.map((mode) => ['stream_mode', mode])).toString();
}

function placeIn({ checkpoint_id, checkpoint }: BodyOf<'run'>): object {
  const id = checkpoint_id ?? checkpoint?.checkpoint_id;
  return id == null ? {} : { checkpoint_id: id };
}

/** Answers without a question's id: for the only question, or a decision for each, in order. A wrong match would be worse than none. */
function unnamed(
  pending: readonly PendingQuestion[],
  resume: unknown,
): readonly (readonly [string, unknown])[] {
  const { decisions } = (resume ?? {}) as { readonly decisions?: unknown };
  if (pending.length === 1) return [[pending[0]!.callId, resume]];
  if (Array.isArray(decisions) && decisions.length === pending.length)
    return pending.map(({ callId }, at) => [callId, { decisions: [decisions[at]] }]);
  throw fieldError('command.resume', `${pending.length} questions wait: answer them by their ids`);
}

/** Answers the questions of a thread, by their ids or without. */
async function resumed(thread: Thread, resume: unknown): Promise<BegunRun> {
  const { session, state } = thread;
  const { run, pending } = state;
  if (!run || pending.length === 0)
    throw new GatewayError({ code: 'CALL_NOT_FOUND', message: 'Nothing waits for an answer' });
  const byId = Object.entries(typeof resume === 'object' && resume !== null ? resume : {}).filter(([id]) =>
    pending.some(({ callId }) => callId === id),
  );
  const segment = await segmentNow(session, await startOf(session, state, run.runId));
  await respond(thread, byId.length > 0 ? byId : unnamed(pending, resume));
  return { thread, id: segmentId(run.runId, segment + 1) };
}

async function statusOf({ thread, id }: BegunRun): Promise<RunInfo> {
  const info = await runIn(thread.session, runOf(id).runId);
  if (info) return info;
  throw new GatewayError({ code: 'RUN_NOT_FOUND', message: `There is no run ${id}` });
}

function runObject({ thread, id }: BegunRun, info: RunInfo) {
  const queued = thread.state.queue.find(({ runId }) => runId === id)?.message;
  const at = iso((queued ?? info.result?.message)?.createdAt ?? Date.now());
  return {
    run_id: id,
    thread_id: thread.id,
    assistant_id: thread.app,
    status: wordOf(info),
    created_at: at,
    updated_at: at,
    metadata: {},
    multitask_strategy: 'enqueue',
    // Pages show queued messages by this field.
    kwargs: queued ? { input: { messages: toLangChain([queued]) } } : {},
  };
}

function wordOf({ state, result }: RunInfo): string {
  if (state === 'queued') return 'pending';
  if (state === 'running') return 'running';
  if (state === 'waiting' || !result) return 'interrupted';
  const { stopReason } = result;
  if (stopReason === 'timeout') return 'timeout';
  if (failureOf(stopReason)) return 'error';
  return stopReason === 'aborted' || stopReason === 'superseded' ? 'interrupted' : 'success';
}
