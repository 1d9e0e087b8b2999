import type { AgUiEvent, GivenMessage } from '../../../shared/ag-ui/events.js';
import { AgUiWriter } from '../../../shared/ag-ui/writer.js';
import { answersCall, type CallAnswer } from '../../../shared/asked-calls.js';
import { GatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import { baseOf, sameContent, versionOf } from '../../../shared/ui-stream/versions.js';
import { Conversation, keyOf, openRunAfter, type RunPlace, runAfter } from '../conversation/conversation.js';
import { fieldError } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import { isKept } from '../conversation/state.js';
import type { PluginSession } from '../plugin.js';
import { type AgUiRequest, contentOf, conversationIn, textOf } from './request.js';
import { type AgUiSegment, askAgain, startOf } from './segment.js';

/** The outcome of a request: a part of a run, or events that are already known. */
export type Posted = AgUiSegment | readonly AgUiEvent[];

/** One run of a client, in the session that it names. */
export class AgUiPost {
  readonly #request: AgUiRequest;
  readonly #conversation: Conversation;
  readonly #resumes: boolean;

  /** @param key The caller's own idempotency key. It takes precedence over the id of the client's run. */
  constructor(
    session: PluginSession,
    request: AgUiRequest,
    {
      options,
      key,
      resumes,
    }: {
      readonly options: ConversationOptions;
      readonly key: string | undefined;
      /** Whether the client already has a part of the answer, so that nothing is begun. */
      readonly resumes: boolean;
    },
  ) {
    this.#request = request;
    this.#resumes = resumes;
    const { clientTools, parameters } = request;
    this.#conversation = new Conversation(session, options, {
      key: key ?? keyOf(request.runId),
      clientTools,
      parameters,
    });
  }

  /** Performs the request that the client's messages express. @throws GatewayError */
  async post(): Promise<Posted> {
    const { messages, resumed } = this.#request;
    const conversation = this.#conversation;
    const at = messages.findLastIndex(({ role }) => role === 'user');
    const user = messages[at];
    const state = await conversation.state(user?.id);
    const sent = await conversation.sent();
    const isKnown = (id: string): boolean => messages.some((given) => baseOf(given.id) === baseOf(id));
    if (state && sent && (!sent.message || isKnown(sent.message.id))) return this.#told(state, sent);
    const known = state && user && versionOf(state, user.id);
    const continued = state && (!user || known) ? await this.#continue(state, at) : null;
    if (continued) return continued;
    if (!user) throw fieldError('messages', 'there is no message of a user to answer');
    const message = { id: user.id, content: contentOf(user, at) };
    if (!known) {
      if (this.#resumes) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
      const before = state ? [] : conversationIn(messages.slice(0, at));
      const begun = await conversation.seeded(state, { messages: before });
      return this.#told(begun, await conversation.send(begun, message, resumed));
    }
    const isSame = sameContent(known.content, message.content);
    const isLater = this.#resumes || at < messages.length - 1;
    const answering = isSame && isLater ? runAfter(state, known.id) : undefined;
    const run = answering ?? (isSame ? openRunAfter(state, known.id) : undefined);
    if (run !== undefined) return this.#told(state, await conversation.place(run), 'whole');
    if (this.#resumes) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    return this.#told(state, await conversation.change(state, known, message));
  }

  /** Answers questions of a run; null if there are none. @param at Place of the last message of a user */
  async #continue(state: SessionState, at: number): Promise<Posted | null> {
    const answers = new Map([...outputsIn(this.#request.messages.slice(at + 1)), ...this.#request.resumed]);
    const runId = answers.size === 0 ? undefined : askingRun(state, answers);
    if (runId === undefined) return null;
    const { index, missing, ...run } = await this.#conversation.answer(state, runId, answers);
    if (index === 0) return null;
    if (missing.length > 0) return this.#waiting(state, answers);
    return this.#told(state, run, index ?? 'whole');
  }

  /** Other questions of the batch are open. Tells the client its questions again. */
  #waiting(state: SessionState, answers: ReadonlyMap<string, CallAnswer>): AgUiEvent[] {
    const writer = new AgUiWriter(this.#request, { tellsAnswers: false });
    const left = state.pending.filter((question) => !answersCall(answers.get(question.callId), question));
    const begin = writer.start();
    const { asked, end } = askAgain(writer, left);
    return [...begin, ...asked, ...end];
  }

  /** @param state The session before the run was sent, or a later one */
  async #told(
    state: SessionState | null,
    { runId, cursor }: RunPlace,
    told: AgUiSegment['told'] = 0,
  ): Promise<AgUiSegment> {
    const names = this.#request;
    // Events alone tell where the parts of a run end.
    const isTold = (await isKept(this.#conversation.session, cursor)) ? told : 'whole';
    return { runId, told: isTold, names, given: names.messages, ...startOf(state, { runId, cursor }) };
  }
}

/** A client's answers, by call. */
function outputsIn(messages: readonly GivenMessage[]): [string, CallAnswer][] {
  return messages.flatMap(({ role, toolCallId, content, error }): [string, CallAnswer][] => {
    if (role !== 'tool' || typeof toolCallId !== 'string') return [];
    if (typeof error === 'string') return [[toolCallId, { kind: 'failure', reason: error }]];
    return [[toolCallId, { kind: 'output', output: textOf(content) }]];
  });
}

/** The run that asked the questions of these answers. */
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
