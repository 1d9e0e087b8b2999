import type { ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { leftBy, sendJson } from '../conversation/answering.js';
import { nameIn } from '../conversation/app-names.js';
import { Conversation } from '../conversation/conversation.js';
import { fieldError } from '../conversation/errors.js';
import { type Last, Turns } from '../conversation/turns.js';
import { CallerWaits } from '../conversation/waits.js';
import { forbidRetry, toChatError } from '../openai/errors.js';
import type { Models } from '../openai/models.js';
import { SESSION_HEADER, type SessionPlace, sessionPlace } from '../openai/session-name.js';
import type { PluginContext } from '../plugin.js';
import { ChatAnswer } from './answer.js';
import { type AnswerEnd, type AnswerPart, ChatRun, type WaitingChatRun } from './chat-run.js';
import { type ChatRequest, readChatRequest } from './request.js';
import { checkComplete, findWaitingRun, lastResults } from './run-finder.js';

/** The time that callers get to read the ends of their answers when the gateway closes. */
const LAST_WORDS_MS = 1000;

/** The number of runs that may wait for the tools of one user. */
const WAITING_PER_USER = 100;

/** A request with its caller and place. */
interface CompletionRequest {
  readonly request: ChatRequest;
  readonly person: Person;
  readonly place: SessionPlace;
  readonly app: string;
  /** Marks the request as begun, so that the client does not send it again. */
  begun(): void;
}

/** Answers completion requests with runs of the gateway's apps. */
export class Completions {
  readonly #context: PluginContext;
  readonly #models: Models;
  readonly #waiting: CallerWaits<WaitingChatRun>;
  readonly #turns = new Turns();
  readonly #serving = new Map<Promise<void>, ServerResponse>();

  constructor(context: PluginContext, models: Models, toolWaitMs: number) {
    this.#context = context;
    this.#models = models;
    this.#waiting = new CallerWaits(context, {
      waitMs: toolWaitMs,
      perUser: WAITING_PER_USER,
      names: namesOf,
      end: (kept, person) => this.#revived(kept, person).close('nobody brought the results of its tools'),
      outlives: ({ ephemeral }) => !ephemeral,
    });
  }

  /** Ends the runs that wait for callers who cannot come back. */
  drain(): Promise<void> {
    return this.#waiting.drain();
  }

  /** Resolves when every answer has ended and its resources are released. */
  async settled(): Promise<void> {
    await this.#waiting.drain();
    const cut = setTimeout(() => {
      for (const response of this.#serving.values()) response.destroy();
    }, LAST_WORDS_MS);
    await Promise.allSettled(this.#serving.keys());
    clearTimeout(cut);
    await this.#waiting.settled();
  }

  /** Answers one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    const served = this.#serve(call);
    this.#serving.set(served, call.response);
    try {
      await served;
    } finally {
      this.#serving.delete(served);
    }
  }

  async #serve({ request: { headers }, response, ...call }: PluginRequest): Promise<void> {
    const gone = leftBy(response);
    const person = await call.authenticate();
    const request = readChatRequest(await call.body());
    const app = await this.#models.appOf(request.model, person);
    const apps = this.#context.apps().map(({ name }) => name);
    const place = sessionPlace({ headers }, app, apps);
    response.setHeader(SESSION_HEADER, place.shown);
    const run = await this.#runFor({ request, person, place, app, begun: () => forbidRetry(response) });
    if (place.ephemeral) response.setHeader(SESSION_HEADER, nameIn(run.sessionId));
    const answer = new ChatAnswer(request.model, request.messages, { withUsage: request.includeUsage });
    const sending = { run, answer, person, gone };
    try {
      if (request.stream) await this.#stream(response, sending);
      else await this.#whole(response, sending);
    } catch (error) {
      await run.close('its answer has failed');
      if (!gone.aborted) throw error;
    }
  }

  /** The run that answers: the one that waits for the results at the end of the conversation, or a new one. */
  async #runFor(ask: CompletionRequest): Promise<ChatRun> {
    const results = lastResults(ask.request.messages);
    if (results.size > 0) {
      const waiting = (await this.#waitingRun(ask, results)) ?? (await this.#forgottenRun(ask, results));
      if (waiting) return waiting;
    }
    if (!ask.place.ephemeral) return this.#continue(ask);
    return this.#start(ask, false);
  }

  async #waitingRun(
    { person, place, app, begun }: CompletionRequest,
    results: ReadonlyMap<string, unknown>,
  ): Promise<ChatRun | null> {
    const session = place.ephemeral ? null : this.#context.session(place.key, person);
    const kept = await this.#waiting.take(
      person,
      [...results.keys()].map(callName),
      (other) => other.app === app && (!session || other.sessionId === session.id),
    );
    if (!kept) return null;
    const run = this.#revived(kept, person);
    if (await run.isLost()) {
      await run.close('its gateway went away');
      return null;
    }
    try {
      checkComplete(run.waitingFor, results);
    } catch (error) {
      await this.#waiting.add(person, run.kept());
      throw error;
    }
    try {
      await run.answer(session ?? this.#context.session(run.sessionId, person), results);
    } catch (error) {
      // A session that was closed meanwhile has no run to go on with.
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return null;
      await this.#waiting.add(person, run.kept());
      throw error;
    }
    begun();
    return run;
  }

  async #forgottenRun(
    ask: CompletionRequest,
    results: ReadonlyMap<string, unknown>,
  ): Promise<ChatRun | null> {
    const { place, person, begun } = ask;
    if (place.ephemeral) return null;
    const session = this.#context.session(place.key, person);
    const found = await findWaitingRun(session, results, toolNames(ask.request));
    if (!found) return null;
    checkComplete(found.waitingFor, results);
    const run = this.#chatRun(ask, { ...found, session });
    await run.answer(session, results);
    begun();
    return run;
  }

  /** Adds messages that it does not know yet to a session of the caller's own. */
  #continue(ask: CompletionRequest): Promise<ChatRun> {
    const { person, place } = ask;
    // Two requests at once would each add the messages that neither found.
    return this.#turns.take(`${person.scope}\n${place.key}`, async (last) => {
      const session = this.#context.session(place.key, person);
      const kept = await this.#waiting.take(person, [session.id]);
      const left = kept && this.#revived(kept, person);
      await left?.close('its caller went on without the results of its tools');
      // The session needs the former answer before it is compared with the caller's list.
      await left?.ended();
      return this.#start(ask, last);
    });
  }

  /** @param last The session's last message, if it is known; false for a session that has not begun */
  async #start(ask: CompletionRequest, last: Last | false): Promise<ChatRun> {
    const { request, person, place, begun } = ask;
    const session = this.#context.session(place.key, person);
    const { clientTools, parameters } = request;
    const conversation = new Conversation(session, {}, { clientTools, parameters });
    const state = last === false ? null : await conversation.state();
    const run = await conversation.add(state, request.messages, { isWhole: true, last });
    if (!run) throw fieldError('messages', 'nothing new to answer', 'invalid_value');
    begun();
    return this.#chatRun(ask, { session, ...run });
  }

  /** Takes up a run that waited here or at another gateway. */
  #revived(kept: WaitingChatRun, person: Person): ChatRun {
    const session = this.#context.session(kept.sessionId, person);
    return new ChatRun({ ...kept, session, report: this.#context.report });
  }

  #chatRun(
    { request, place, app }: CompletionRequest,
    run: Pick<ConstructorParameters<typeof ChatRun>[0], 'session' | 'runId' | 'cursor' | 'waitingFor'>,
  ): ChatRun {
    return new ChatRun({
      ...run,
      app,
      ephemeral: place.ephemeral,
      clientTools: request.clientTools.map(({ name }) => name),
      customTools: request.customTools,
      report: this.#context.report,
    });
  }

  async #whole(response: ServerResponse, { run, answer, person, gone }: ChatSendRequest): Promise<void> {
    const keep = (part: AnswerPart): string => {
      answer.add(part);
      return '';
    };
    const end = await run.read({ first: () => '', part: keep }, { signal: gone }).end;
    await this.#putAway(run, end, person);
    sendJson(response, answer.completion(end));
  }

  async #stream(response: ServerResponse, { run, answer, person, gone }: ChatSendRequest): Promise<void> {
    const words = {
      first: () => chunkText(answer.firstChunk()),
      part: (part: AnswerPart) => chunkText(answer.chunk(part)),
    };
    const stream = run.read(words, { response });
    try {
      const end = await stream.end;
      await this.#putAway(run, end, person);
      stream.finish(`${answer.lastChunks(end).map(chunkText).join('')}data: [DONE]\n\n`);
    } catch (error) {
      if (!gone.aborted) stream.finish(chunkText(toChatError(this.#shown(error))));
      await run.close('its answer has failed');
    }
  }

  #shown(error: unknown): GatewayError {
    if (isGatewayError(error)) return error;
    this.#context.report(error, 'a completion failed');
    return new GatewayError({ code: 'INTERNAL' });
  }

  /** Before the last bytes, since a caller with the answer may come back at once. */
  async #putAway(run: ChatRun, { waiting }: AnswerEnd, person: Person): Promise<void> {
    if (waiting) await this.#waiting.add(person, run.kept());
    else await run.close('done');
  }
}

function chunkText(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

const callName = (callId: string): string => `call:${callId}`;

function namesOf({ waitingFor, sessionId, ephemeral }: WaitingChatRun): string[] {
  const names = waitingFor.map(callName);
  return ephemeral ? names : [...names, sessionId];
}

function toolNames({ clientTools }: ChatRequest): ReadonlySet<string> {
  return new Set(clientTools.map(({ name }) => name));
}

interface ChatSendRequest {
  readonly run: ChatRun;
  readonly answer: ChatAnswer;
  readonly person: Person;
  readonly gone: AbortSignal;
}
