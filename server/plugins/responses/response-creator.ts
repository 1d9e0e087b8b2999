import type { IncomingHttpHeaders } from 'node:http';
import type { CallAnswer } from '../../../shared/asked-calls.js';
import { type GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { OnBusy } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import type { MessageInput } from '../../../shared/messages.js';
import {
  clientCallId,
  type IdentifiedRun,
  parseClientCallId,
  parseItemId,
} from '../../../shared/responses/ids.js';
import { AskedOfCaller } from '../../../shared/responses/questions.js';
import { ECHO, type ResponseWriterOptions } from '../../../shared/responses/types.js';
import { openQuestions } from '../../../shared/subagents.js';
import type { Person } from '../../auth/types.js';
import { askedIn, handOver } from '../conversation/asked.js';
import { Conversation } from '../conversation/conversation.js';
import { fieldError, orNull } from '../conversation/errors.js';
import { stateOf } from '../conversation/state.js';
import { Turns } from '../conversation/turns.js';
import type { UserNotes } from '../conversation/user-notes.js';
import { sessionPlace } from '../openai/session-name.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { behindCompaction, type CompactedPlace } from './compacting.js';
import type { NewConversation } from './conversations.js';
import { endOf, type Finder, type FoundResponse, lastRun, previousNotFound } from './finding.js';
import { outputOf, toMessages } from './input.js';
import { digest, newSessionName } from './places.js';
import type { ResponseRequest } from './request.js';
import type { InputItem } from './request-schema.js';

/** Options for requests that create responses. */
export interface ResponseCreatorOptions extends ResponseWriterOptions {
  readonly onBusy: Exclude<OnBusy, 'steer'>;
  readonly created: UserNotes<NewConversation>;
}

/** A request, its caller and its app. */
export interface CreateRequest {
  readonly request: ResponseRequest;
  readonly person: Person;
  readonly headers: IncomingHttpHeaders;
  /** The app behind the model. */
  readonly app: string;
  /** The compaction of ours that the request goes on behind. */
  readonly behind?: CompactedPlace;
}

/** The session in which a response is created. */
interface ResponsePlace {
  readonly session: PluginSession;
  /** Whether the caller sends its whole conversation. The session may already have most of it. */
  readonly isWhole: boolean;
}

/** A place, and its state when it was found. */
interface Found extends ResponsePlace {
  readonly state: SessionState | null;
}

/** Creates responses: each begins a run, or continues one behind answered questions. */
export class ResponseCreator {
  readonly #context: PluginContext;
  readonly #finder: Finder;
  readonly #options: ResponseCreatorOptions;
  readonly #turns = new Turns();

  constructor(context: PluginContext, finder: Finder, options: ResponseCreatorOptions) {
    this.#context = context;
    this.#finder = finder;
    this.#options = options;
  }

  /** @throws GatewayError before anything was begun */
  async create(asked: CreateRequest): Promise<FoundResponse> {
    const behind = behindCompaction(asked.request);
    const ask = behind ? { ...asked, request: behind.request, behind: behind.place } : asked;
    const { items } = ask.request;
    const last = items.at(-1);
    if (!last) throw fieldError('input', 'there is nothing to answer', 'invalid_value');
    const isAnswer = isOutput(last) || last.type === 'mcp_approval_response';
    const continued = isAnswer ? await this.#continue(ask) : null;
    return continued ?? this.#begin(ask);
  }

  /** Continues a run behind the questions that the end of the input answers; null if no run waits for the answers. */
  async #continue({ request, person, headers, app }: CreateRequest): Promise<FoundResponse | null> {
    const { answers, run } = trailingAnswers(request.items);
    const place = run ?? (await this.#runOf({ request, person, headers, app }));
    const found = place && (await this.#finder.segment({ ...place, index: 0 }, person));
    if (!found?.run) return null;
    const { session } = found;
    const { runId } = found.name;
    const asked = await askedIn(
      session,
      { runId, cursor: found.run.cursor },
      new AskedOfCaller(runId, this.#options),
    );
    const { index, due, missing, lapsed } = asked.continuation(answers);
    if (index === 0) return null;
    const onlyOutputs = [...answers.values()].every(({ kind }) => kind === 'output');
    // The run ended without the outputs, so they go to a new run.
    if (lapsed && onlyOutputs) return null;
    if (missing.length > 0)
      throw unanswered(
        missing.map(({ callId }) => callId),
        found.name,
      );
    for (const { callId } of due) await handOver(session, callId, answers.get(callId)!);
    return { session, name: { ...found.name, index }, run: found.run };
  }

  /** The waiting run of the session that a request names by a previous response, a conversation or headers. */
  async #runOf({ request, person, headers, app }: CreateRequest): Promise<IdentifiedRun | null> {
    const { previousResponse, conversation } = request;
    const former =
      previousResponse === undefined ? null : await this.#finder.response(previousResponse, person);
    if (former) return former.name;
    const named = conversation === undefined ? this.#headerPlace(headers, app) : `${app}:${conversation}`;
    if (named === null) return null;
    const session = this.#context.session(named, person);
    const state = await stateOf(session);
    return state?.run ? { sessionId: session.id, runId: state.run.runId } : null;
  }

  async #begin(ask: CreateRequest): Promise<FoundResponse> {
    const { request, person, headers } = ask;
    const idempotencyKey = headers['idempotency-key'];
    const key = idempotencyKey === undefined ? undefined : String(idempotencyKey);
    const messages = await toMessages(request.items, (id, path) => this.#finder.item(id, path, person));
    const named = await this.#placeOf(ask, key);
    // Two simultaneous requests would both see the state before the other one.
    return this.#turns.take(`${person.scope}\n${named.session.id}`, async (last) => {
      const { session, isWhole, state } = await this.#branched(ask, named, key);
      const { clientTools, parameters, metadata } = request;
      const brought = { key, clientTools, parameters, metadata };
      const conversation = new Conversation(session, this.#options, brought);
      const sent = await conversation.sent();
      if (!sent) await this.#assertAnswered(session, state);
      const added =
        sent && isWhole
          ? sent
          : await conversation.add(state, messages, {
              isWhole,
              last: session === named.session ? last : false,
              shape: (input) => this.#input(input, request, key),
            });
      if (!added) throw fieldError('input', 'there is nothing new to answer', 'invalid_value');
      const { runId, cursor } = added;
      await this.#begun(session, ask);
      return { session, name: { sessionId: session.id, runId, index: 0 }, run: { cursor, isOver: false } };
    });
  }

  /** Gives a conversation that has just begun the metadata that it was created with. */
  async #begun(session: PluginSession, { request: { conversation }, person }: CreateRequest): Promise<void> {
    const created =
      conversation === undefined ? undefined : await this.#options.created.take(person, conversation);
    if (created && Object.keys(created.metadata).length > 0)
      await session.update({ metadata: created.metadata });
  }

  #input(input: MessageInput, { echo }: ResponseRequest, key: string | undefined): MessageInput {
    return {
      ...input,
      ...(key !== undefined && { id: messageId(key) }),
      metadata: { ...input.metadata, [ECHO]: echo },
    };
  }

  #headerPlace(headers: IncomingHttpHeaders, app: string): string | null {
    const apps = this.#context.apps().map(({ name }) => name);
    const place = sessionPlace({ headers }, app, apps);
    return place.ephemeral ? null : place.key;
  }

  /** The session that a request names, or the one that it begins. */
  async #placeOf(
    { request, person, headers, app, behind }: CreateRequest,
    key: string | undefined,
  ): Promise<ResponsePlace> {
    const { previousResponse, conversation, store } = request;
    if (behind) return { session: await this.#compacted(behind, { app, person }), isWhole: false };
    if (conversation !== undefined) {
      const session = this.#context.session(await this.#conversation(conversation, app, person), person);
      return { session, isWhole: false };
    }
    if (previousResponse !== undefined) {
      const former = await this.#finder.response(previousResponse, person);
      if (!former) throw previousNotFound(previousResponse);
      if ((await former.session.status()).app !== app)
        throw fieldError('model', 'the previous response is one of another model', 'invalid_value');
      return { session: former.session, isWhole: false };
    }
    const named = this.#headerPlace(headers, app);
    const name = named ?? `${app}:${newSessionName(store, key)}`;
    return { session: this.#context.session(name, person), isWhole: named !== null };
  }

  /** The session key of a conversation, which belongs to the app that first answered in it. */
  async #conversation(id: string, app: string, person: Person): Promise<string> {
    const own = `${app}:${id}`;
    if (await this.#options.created.get(person, id)) return own;
    if (await orNull(() => this.#context.session(own, person).status())) return own;
    for (const other of this.#context.apps()) {
      if (other.name === app) continue;
      const state = await orNull(() => stateOf(this.#context.session(`${other.name}:${id}`, person)));
      if (state && (state.messageCount > 0 || state.run))
        throw fieldError('model', 'the conversation is one of another model', 'invalid_value');
    }
    return own;
  }

  /** Forks the conversation if a request continues from an earlier response than the last. */
  async #branched(
    { request, person, app, behind }: CreateRequest,
    place: ResponsePlace,
    key: string | undefined,
  ): Promise<Found> {
    const { previousResponse, store } = request;
    const state = await stateOf(place.session);
    const there = { ...place, state };
    if (behind) {
      const isRepeated = key !== undefined && (await place.session.sent(key)) !== null;
      if (store && (isRepeated || (state?.tip === behind.tip && !state.run))) return there;
      return this.#fork(place.session, behind.tip, { app, person, name: newSessionName(store, key), key });
    }
    if (previousResponse === undefined) return there;
    const former = await this.#finder.response(previousResponse, person);
    if (!former) throw previousNotFound(previousResponse);
    const { session } = former;
    const isRepeated = key !== undefined && (await place.session.sent(key)) !== null;
    const { runId } = former.name;
    if (store && (isRepeated || lastRun(state) === runId)) return there;
    const end = state?.run?.runId === runId ? null : await endOf(former);
    if (end === null)
      throw fieldError('previous_response_id', 'this response is not over yet', 'invalid_value');
    if (store && state?.tip === end) return there;
    return this.#fork(session, end, { app, person, name: newSessionName(store, key), key });
  }

  /** Goes on from a message in a session of its own. */
  async #fork(
    session: PluginSession,
    at: string,
    {
      app,
      person,
      name,
      key,
    }: Pick<CreateRequest, 'app' | 'person'> & { name: string; key: string | undefined },
  ): Promise<Found> {
    const branch = this.#context.session(`${app}:${name}`, person);
    try {
      await session.fork(branch.id, { at });
    } catch (error) {
      // An earlier try of the same request has begun the fork.
      if (key === undefined || !isGatewayError(error) || error.code !== 'SESSION_EXISTS') throw error;
    }
    return { session: branch, isWhole: false, state: await stateOf(branch) };
  }

  /** The session of a compaction. @throws GatewayError for one that the caller does not have */
  async #compacted(
    { sessionId }: CompactedPlace,
    { app, person }: Pick<CreateRequest, 'app' | 'person'>,
  ): Promise<PluginSession> {
    const session = await orNull(async () => {
      const named = this.#context.session(sessionId, person);
      return (await named.status()).app === app && named.id === sessionId ? named : null;
    });
    if (session) return session;
    throw fieldError('input', 'there is no such compaction of this model', 'invalid_value');
  }

  /** @throws GatewayError if a run of the session waits for the caller, because the next message would wait behind it */
  async #assertAnswered(session: PluginSession, state: SessionState | null): Promise<void> {
    if (!state?.run || openQuestions(state).length === 0) return;
    const { run } = state;
    const { cursor } = await session.run(run.runId).status();
    const asked = await askedIn(
      session,
      { runId: run.runId, cursor },
      new AskedOfCaller(run.runId, this.#options),
    );
    const open = asked.open.map(({ callId }) => callId);
    if (open.length > 0) throw unanswered(open, { sessionId: session.id, runId: run.runId });
  }
}

function isOutput(
  item: InputItem,
): item is Extract<InputItem, { type: 'function_call_output' | 'custom_tool_call_output' }> {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

/** The answers at the end of an input, and the run that their ids name. */
function trailingAnswers(items: readonly InputItem[]): {
  readonly answers: ReadonlyMap<string, CallAnswer>;
  readonly run: IdentifiedRun | null;
} {
  const answers = new Map<string, CallAnswer>();
  let run: IdentifiedRun | null = null;
  for (const item of [...items].reverse()) {
    if (isOutput(item)) {
      const call = parseClientCallId(item.call_id);
      answers.set(call.callId, { kind: 'output', output: outputOf(item) });
      run ??= call.run;
    } else if (item.type === 'mcp_approval_response') {
      const name = parseItemId(item.approval_request_id);
      const { approve, reason } = item;
      const answer = { approved: approve, ...(reason != null && { reason }) };
      answers.set(name?.part ?? item.approval_request_id, { kind: 'confirmation', ...answer });
      run ??= name && { sessionId: name.sessionId, runId: name.runId };
    } else break;
  }
  return { answers, run };
}

function messageId(key: string): string {
  return `msg-${digest(key)}`;
}

function unanswered(callIds: readonly string[], run: IdentifiedRun): GatewayError {
  const named = callIds.map((callId) => clientCallId(callId, run)).join(', ');
  return fieldError('input', `must have an output or an approval for ${named}`, 'invalid_value');
}
