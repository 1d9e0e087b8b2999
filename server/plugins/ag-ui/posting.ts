import { createHash } from 'node:crypto';
import type { AgUiEvent, GivenMessage } from '../../../shared/ag-ui/events.js';
import { AgUiWriter } from '../../../shared/ag-ui/writer.js';
import { answersCall, type CallAnswer, toResponse } from '../../../shared/asked-calls.js';
import { parseCursor } from '../../../shared/cursor.js';
import { isGatewayError } from '../../../shared/errors.js';
import type { OnBusy } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import type { ContentBlock, Message, MessageInput } from '../../../shared/messages.js';
import type { Accepted } from '../../../shared/operation-types.js';
import { asking } from '../../../shared/said.js';
import { baseOf, sameContent, versionId, versionOf } from '../../../shared/ui-stream/versions.js';
import { askedIn } from '../asked.js';
import type { PluginSession } from '../plugin.js';
import { stateOf } from '../session-state.js';
import { fieldError } from '../ui-message-stream/errors.js';
import { type AgUiRequest, contentOf, conversationIn, textOf } from './request.js';
import { type AgUiTelling, startOf } from './telling.js';

/** How requests are met. */
export interface PostingOptions {
  readonly onBusy: Exclude<OnBusy, 'steer'>;
  /** What becomes of questions that are open when a user's message comes. */
  readonly openQuestions: 'keep' | 'deny';
  /** Whether what a client has before its first message is taken over. */
  readonly seed: boolean;
}

/** What a request comes to: a part of a run, or events that are known already. */
export type Posted = AgUiTelling | readonly AgUiEvent[];

/** One run of a client, in the session that it names. */
export class Posting {
  readonly #session: PluginSession;
  readonly #request: AgUiRequest;
  readonly #options: PostingOptions;
  readonly #key: string;

  /** @param key The caller's own idempotency key, which goes before the id of its run. */
  constructor(
    session: PluginSession,
    request: AgUiRequest,
    options: PostingOptions,
    key: string | undefined,
  ) {
    this.#session = session;
    this.#request = request;
    this.#options = options;
    this.#key = key ?? keyOf(request.runId);
  }

  /** Does what the client's messages mean. @throws GatewayError */
  async post(): Promise<Posted> {
    const { messages } = this.#request;
    const state = await stateOf(this.#session);
    const sent = await this.#session.sent(this.#key);
    const isKnown = (id: string): boolean => messages.some((given) => baseOf(given.id) === baseOf(id));
    if (state && sent && (!sent.message || isKnown(sent.message.id))) return this.#join(state, sent, 0);
    const at = messages.findLastIndex(({ role }) => role === 'user');
    const user = messages[at];
    const known = state && user && versionOf(state, user.id);
    if (state && (!user || known)) {
      const continued = await this.#continue(state, at);
      if (continued) return continued;
    }
    if (!user) throw fieldError('messages', 'there is no message of a user to answer');
    const content = contentOf(user, at);
    if (!known) return this.#send(state, user.id, content, at);
    if (!sameContent(known.content, content)) return this.#edit(state, known, content);
    const runId = runAfter(state, known.id);
    const isOpen = state.run?.runId === runId || state.queue.some((queued) => queued.runId === runId);
    const isAgain = !isOpen && at === messages.length - 1;
    if (runId === undefined || isAgain) return this.#regenerate(state, known);
    return this.#join(state, await this.#session.run(runId).status(), 'whole');
  }

  async #send(
    state: SessionState | null,
    id: string,
    content: readonly ContentBlock[],
    at: number,
  ): Promise<Posted> {
    const { messages, resumed } = this.#request;
    const begun = state ?? (await this.#seeded(messages.slice(0, at)));
    // Whoever writes instead of answering has to say so of each question.
    if (begun) await this.#respond(begun, resumed);
    if (begun && this.#options.openQuestions === 'deny') await this.#deny(begun, resumed);
    return this.#begun(begun, await this.#accepted({ id, content }));
  }

  /** Of two first requests at once one begins the session; what the other brings is in it then. */
  async #seeded(before: readonly GivenMessage[]): Promise<SessionState | null> {
    const messages = this.#options.seed ? conversationIn(before) : [];
    if (messages.length === 0) return null;
    try {
      await this.#session.import(messages);
    } catch (error) {
      if (codeOf(error) !== 'SESSION_EXISTS') throw error;
    }
    return stateOf(this.#session);
  }

  /** Answers all that is open of these. */
  async #respond({ pending }: SessionState, answers: ReadonlyMap<string, CallAnswer>): Promise<void> {
    for (const { callId, kind } of pending) {
      const answer = answers.get(callId);
      if (answersCall(answer, { callId, kind })) await this.#hand(callId, answer);
    }
  }

  async #deny({ pending }: SessionState, answers: ReadonlyMap<string, CallAnswer>): Promise<void> {
    const reason = 'The conversation went on';
    for (const { callId, runId } of pending)
      if (runId !== undefined && !answers.has(callId)) await this.#hand(callId, { kind: 'failure', reason });
  }

  #accepted(message: MessageInput, rest: { readonly replaces?: string } = {}): Promise<Accepted> {
    const { onBusy } = this.#options;
    return this.#session.send(message, { ...rest, onBusy, ...this.#begins }).accepted;
  }

  get #begins() {
    const { clientTools, parameters } = this.#request;
    return {
      idempotencyKey: this.#key,
      ...(clientTools.length > 0 && { clientTools }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    };
  }

  /** An edited message keeps its id in its client; in the session each version has one of its own, which begins with it. */
  async #edit(state: SessionState, known: Message, content: readonly ContentBlock[]): Promise<Posted> {
    const digest = createHash('sha256')
      .update(JSON.stringify([known.id, content]))
      .digest('base64url');
    const id = versionId(known.id, digest.slice(0, 12));
    return this.#begun(state, await this.#accepted({ id, content }, { replaces: known.id }));
  }

  async #regenerate(state: SessionState, { id }: Message): Promise<Posted> {
    return this.#begun(state, await this.#session.regenerate({ messageId: id, ...this.#begins }).accepted);
  }

  /** The answers to questions of a run; null where there are none. @param at Place of the last message of a user */
  async #continue(state: SessionState, at: number): Promise<Posted | null> {
    const answers = new Map([...outputsIn(this.#request.messages.slice(at + 1)), ...this.#request.resumed]);
    if (answers.size === 0) return null;
    const runId = askingRun(state, answers);
    if (runId === undefined) return null;
    const { cursor } = await this.#session.run(runId).status();
    if (!(await this.#isKept(cursor))) return this.#continueUnread(state, { runId, cursor }, answers);
    const asked = await askedIn(this.#session, { runId, cursor });
    const { index, due, missing } = asked.continuation(answers);
    if (index === 0) return null;
    for (const { callId } of due) await this.#hand(callId, answers.get(callId)!);
    if (missing.length > 0) return this.#waiting(state, answers);
    return this.#join(state, { runId, cursor }, index);
  }

  /** What was asked is not kept any more, but for what is open. */
  async #continueUnread(
    state: SessionState,
    run: Pick<AgUiTelling, 'runId' | 'cursor'>,
    answers: ReadonlyMap<string, CallAnswer>,
  ): Promise<Posted> {
    await this.#respond(state, answers);
    return this.#join(state, run, 'whole');
  }

  /** Other questions of those are open: the client is told again of what it has to answer. */
  #waiting(state: SessionState, answers: ReadonlyMap<string, CallAnswer>): AgUiEvent[] {
    const writer = new AgUiWriter(this.#request, { tellsAnswers: false });
    const left = state.pending.filter((question) => !answersCall(answers.get(question.callId), question));
    const events = left.flatMap((question) => {
      const { runId = '', callId, name, input } = question;
      const call = { sessionId: '', cursor: '', ts: 0, runId, callId, name, input };
      // The client has the calls.
      writer.take({ type: 'tool_use', ...call });
      return writer.take(asking(question));
    });
    return [...writer.start(), ...events, ...writer.pause()];
  }

  /** Hands an answer over. Somebody else may have been first, or the run may have ended, which its events tell. */
  async #hand(callId: string, answer: CallAnswer): Promise<void> {
    try {
      await this.#session.respond(callId, toResponse(answer));
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'ALREADY_ANSWERED' && code !== 'CALL_NOT_FOUND') throw error;
    }
  }

  #begun(state: SessionState | null, accepted: Accepted): AgUiTelling {
    const { runId } = accepted;
    const names = this.#request;
    return { runId, told: 0, names, given: names.messages, ...startOf(state, accepted) };
  }

  /** A run that somebody has begun before. */
  async #join(
    state: SessionState,
    run: Pick<AgUiTelling, 'runId' | 'cursor'>,
    told: AgUiTelling['told'],
  ): Promise<AgUiTelling> {
    const names = this.#request;
    // Its parts can be told apart by its events alone.
    const isTold = (await this.#isKept(run.cursor)) ? told : 'whole';
    return { runId: run.runId, told: isTold, names, given: names.messages, ...startOf(state, run) };
  }

  /** Whether all that is behind a place is kept. */
  async #isKept(cursor: string): Promise<boolean> {
    const { epoch, first } = await this.#session.status();
    const place = parseCursor(cursor);
    return !place || place.epoch !== epoch || place.seq >= first - 1;
  }
}

/** What a client has answered with, by call. */
function outputsIn(messages: readonly GivenMessage[]): [string, CallAnswer][] {
  return messages.flatMap(({ role, toolCallId, content, error }): [string, CallAnswer][] => {
    if (role !== 'tool' || typeof toolCallId !== 'string') return [];
    if (typeof error === 'string') return [[toolCallId, { kind: 'failure', reason: error }]];
    return [[toolCallId, { kind: 'output', output: textOf(content) }]];
  });
}

/** The run that asked what these answer. */
function askingRun(
  { run, messages }: SessionState,
  answers: ReadonlyMap<string, CallAnswer>,
): string | undefined {
  if (run) return run.runId;
  const called = messages.findLast(({ content }) =>
    content.some((block) => block.type === 'tool_use' && answers.has(block.callId)),
  );
  return called?.runId ?? messages.findLast(({ runId }) => runId !== undefined)?.runId;
}

/** The run that answers a message, or has answered it. */
function runAfter({ messages, run, queue }: SessionState, id: string): string | undefined {
  if (run?.message.parentId === id) return run.runId;
  const queued = queue.find(({ message }) => message.id === id);
  return (
    queued?.runId ?? messages.find(({ parentId, runId }) => parentId === id && runId !== undefined)?.runId
  );
}

/** Ids are any text; keys are printable ASCII. */
export function keyOf(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text)) return text;
  return createHash('sha256').update(text).digest('base64url');
}

function codeOf(error: unknown): string | undefined {
  return isGatewayError(error) ? error.code : undefined;
}
