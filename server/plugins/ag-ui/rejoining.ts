import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AgUiInterrupt } from '../../../shared/ag-ui/events.js';
import { toTanStackMessages } from '../../../shared/ag-ui/tanstack.js';
import { AgUiWriter } from '../../../shared/ag-ui/writer.js';
import { GatewayError } from '../../../shared/errors.js';
import { initialState, type SessionState } from '../../../shared/fold.js';
import { asking } from '../../../shared/said.js';
import type { Identity } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { sendJson } from '../conversation/answering.js';
import { currentRun, keyOf } from '../conversation/conversation.js';
import { fieldError } from '../conversation/errors.js';
import { ownNotes } from '../conversation/own-notes.js';
import { stateOf } from '../conversation/state.js';
import { queryOf } from '../conversation/urls.js';
import type { PluginContext, PluginNotes, PluginSession } from '../plugin.js';
import { numberOf, type Reading, tellRun } from './telling.js';

/** How long the ids of clients' runs are known, in milliseconds. */
const NOTED_MS = 24 * 3_600_000;
const PAGE = 100;
/** Between a session and its run in the id that a client is told of a run which it has not begun. */
const BETWEEN = '~';

/** TanStack AI names no version of the protocol: it understands this. */
export const TANSTACK = { version: '1.0', waitsToRun: true } as const;

/** How a client reads: in which form, and from where on. */
export function readingOf({ headers }: Pick<IncomingMessage, 'headers'>): Reading {
  const last = headers['last-event-id'];
  const lines = headers.accept?.includes('application/x-ndjson') ?? false;
  return { lines, last: last === undefined ? null : numberOf(String(last)) };
}

/** Serves pages of TanStack AI that are opened: the messages so far, and the run that is under way. */
export class Rejoining {
  readonly #context: PluginContext;
  readonly #notes: PluginNotes;

  constructor(context: PluginContext) {
    this.#context = context;
    this.#notes = context.peers?.notes ?? ownNotes();
  }

  /** Notes which session a client's own id of a run belongs to: a page that was opened again knows that alone. */
  async note({ id }: PluginSession, runId: string, identity: Identity): Promise<void> {
    await this.#notes.put(noteOf(runId, identity), id, { ttlMs: NOTED_MS });
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest, app: string): Promise<void> {
    const identity = await call.authenticate();
    const query = queryOf(call.request.url);
    const threadId = query.get('threadId');
    const runId = query.get('runId');
    if (query.get('offset') !== null && runId !== null) return this.#join(call, identity, runId);
    if (threadId === null) throw fieldError('threadId', 'must name a thread');
    const session = this.#context.session(`${app}:${threadId}`, identity);
    sendJson(call.response, await hydration(session, { threadId, query }));
  }

  /** Tells a run from its beginning, or what comes behind an event that the client has. */
  async #join({ request, response }: PluginRequest, identity: Identity, id: string): Promise<void> {
    const found = await this.#found(id, identity);
    if (!found) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    const { session, runId } = found;
    const { cursor } = await session.run(runId).status();
    const threadId = session.id.slice(session.id.indexOf(':') + 1);
    const names = { threadId, runId: id, ...TANSTACK };
    const telling = {
      runId,
      cursor,
      told: 'whole',
      names,
      given: [],
      session: initialState,
      folds: false,
    } as const;
    await tellRun(response, session, telling, { report: this.#context.report, reading: readingOf(request) });
  }

  async #found(
    id: string,
    identity: Identity,
  ): Promise<{ readonly session: PluginSession; readonly runId: string } | null> {
    const [sessionId = '', runId] = id.split(BETWEEN);
    if (runId !== undefined) return { session: this.#context.session(sessionId, identity), runId };
    const noted = await this.#notes.get(noteOf(id, identity));
    if (noted === null) return null;
    const session = this.#context.session(noted, identity);
    const sent = await session.sent(keyOf(id));
    return sent && { session, runId: sent.runId };
  }
}

function noteOf(runId: string, { scope, userKey }: Identity): string {
  return `run:${createHash('sha256').update(`${scope}\n${userKey}\n${runId}`).digest('base64url')}`;
}

/** The state that a page begins with: the messages so far, and the active run or the questions that it waits with. */
async function hydration(
  session: PluginSession,
  { threadId, query }: { readonly threadId: string; readonly query: URLSearchParams },
): Promise<object> {
  const state = await stateOf(session);
  if (!state) return { messages: [], activeRun: null, interrupts: null };
  const limit = query.get('limit');
  const before = query.get('before');
  const page = await session.history({
    limit: limit === null ? PAGE : Number(limit),
    ...(before !== null && { before }),
  });
  const active = before === null ? currentRun(state) : undefined;
  const runId = active === undefined ? null : `${session.id}${BETWEEN}${active}`;
  const pending = runId === null ? [] : interruptsIn(state, { threadId, runId });
  const said = pending.length > 0 && state.run ? [...page.messages, state.run.message] : page.messages;
  return {
    messages: toTanStackMessages(said),
    activeRun: runId !== null && pending.length === 0 ? { runId } : null,
    interrupts: pending.length > 0 ? { runId, pending } : null,
    page: page.cursor === null ? { truncated: false } : { truncated: true, cursor: page.cursor },
  };
}

/** The confirmations that a run waits for. */
function interruptsIn(
  { pending, run }: SessionState,
  names: { readonly threadId: string; readonly runId: string },
): readonly AgUiInterrupt[] {
  const open = pending.filter(({ kind, runId }) => kind === 'confirmation' && runId === run?.runId);
  const writer = new AgUiWriter({ ...names, ...TANSTACK }, { tellsAnswers: false });
  for (const question of open) {
    const { runId = '', callId, name, input } = question;
    writer.take({ type: 'tool_use', sessionId: '', cursor: '', ts: 0, runId, callId, name, input });
    writer.take(asking(question));
  }
  const [finished] = writer.pause();
  return finished?.type === 'RUN_FINISHED' && finished.outcome.type === 'interrupt'
    ? finished.outcome.interrupts
    : [];
}
