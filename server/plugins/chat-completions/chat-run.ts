import { GatewayError } from '../../../shared/errors.js';
import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import { type StopReason, textOf, type Usage } from '../../../shared/messages.js';
import { textInput } from '../../../shared/responses/items.js';
import { failureOf } from '../../../shared/run-failure.js';
import type { ChatCustomCall, ChatFinishReason, ChatToolCall } from '../../chat-format/chat-types.js';
import { toFinishReason, toToolCall } from '../../chat-format/to-chat.js';
import { handOver } from '../conversation/asked.js';
import { codeOf } from '../conversation/errors.js';
import type { Dialect, DialectOptions, DialectStream, PluginSession } from '../plugin.js';

/** A piece of an answer. */
export type AnswerPart =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'call'; readonly call: ChatToolCall | ChatCustomCall }
  /** The text of the answer from here on, in place of what was said before. */
  | { readonly type: 'again'; readonly text: string };

/** How an answer ended. */
export interface AnswerEnd {
  readonly finishReason: ChatFinishReason;
  /** The usage that the app reported for the whole run. */
  readonly usage: Usage | undefined;
  /** Whether the run waits for the results of the calls it made. */
  readonly waiting: boolean;
}

/** The words of a format for an answer. */
export interface AnswerWords {
  /** The beginning of a stream. */
  first(): string;
  /** A piece of the answer. */
  part(part: AnswerPart): string;
}

/** The reading of an answer. */
export interface AnswerReader extends Pick<DialectStream<AnswerEnd>, 'finish'> {
  /** @throws GatewayError the reason why there is no whole answer: `ABORTED` also if its reader has left */
  readonly end: Promise<AnswerEnd>;
}

/** The state of a waiting run, for other gateways to go on with it. */
export interface WaitingChatRun {
  readonly sessionId: string;
  readonly app: string;
  readonly runId: string;
  /** Place in the session's events after which the run is read. */
  readonly cursor: string;
  /** Whether the session is dropped with the run. */
  readonly ephemeral: boolean;
  /** Ids of calls that wait for the caller. */
  readonly waitingFor: readonly string[];
  /** Calls by the app that may be for the caller. */
  readonly called: readonly EventOf<'tool_use'>[];
  /** Names of the caller's tools. */
  readonly clientTools: readonly string[];
  /** Names of those whose input is text. */
  readonly customTools: readonly string[];
}

/** The start of a new run, or of one that is taken up. */
export interface ChatRunInit
  extends Omit<WaitingChatRun, 'sessionId' | 'waitingFor' | 'called'>,
    Partial<Pick<WaitingChatRun, 'waitingFor' | 'called'>> {
  readonly session: PluginSession;
  report(error: unknown, what: string): void;
}

const UNATTENDED =
  'Nobody can be asked here: the conversation has no session that a person could follow (x-session-id)';

/** A run as a chain of completions: each call of the caller's tools ends one, and its result begins the next. */
export class ChatRun {
  readonly app: string;
  readonly runId: string;
  readonly ephemeral: boolean;
  readonly #clientTools: ReadonlySet<string>;
  readonly #customTools: ReadonlySet<string>;
  readonly #report: ChatRunInit['report'];
  /** Calls by the app that may be for the caller. This is known once they ask for an answer, or the run ends without their result. */
  readonly #called = new Map<string, EventOf<'tool_use'>>();
  readonly #waitingFor: Set<string>;
  #session: PluginSession;
  #cursor: string;
  #error: GatewayError | null = null;
  #ended = false;
  /** Characters of text that the run has said, and those of earlier answers among them. */
  #said = 0;
  #before = 0;
  /** Fails if a question could not be declined. */
  readonly #failed = failure();

  constructor(init: ChatRunInit) {
    const { session, app, runId, cursor, ephemeral, clientTools, customTools, waitingFor, called, report } =
      init;
    this.#session = session;
    this.app = app;
    this.runId = runId;
    this.#cursor = cursor;
    this.ephemeral = ephemeral;
    this.#clientTools = new Set(clientTools);
    this.#customTools = new Set(customTools);
    this.#waitingFor = new Set(waitingFor);
    for (const call of called ?? []) this.#called.set(call.callId, call);
    this.#report = report;
  }

  /** The state with which another gateway can go on. */
  kept(): WaitingChatRun {
    const { sessionId, app, runId, ephemeral } = this;
    const [waitingFor, called] = [[...this.#waitingFor], [...this.#called.values()]];
    const tools = { clientTools: [...this.#clientTools], customTools: [...this.#customTools] };
    return { sessionId, app, runId, cursor: this.#cursor, ephemeral, waitingFor, called, ...tools };
  }

  get sessionId(): string {
    return this.#session.id;
  }

  /** Ids of the calls that the caller was told and has not answered. */
  get waitingFor(): ReadonlySet<string> {
    return this.#waitingFor;
  }

  /** Whether the gateway of the run went away while the run waited. */
  async isLost(): Promise<boolean> {
    try {
      const { result } = await this.#session.run(this.runId).status();
      return result?.stopReason === 'lost';
    } catch (error) {
      const code = codeOf(error);
      if (code === 'SESSION_NOT_FOUND' || code === 'RUN_NOT_FOUND') return true;
      throw error;
    }
  }

  /** Hands over the results of the caller's tools. @param session The session as the caller may reach it now. */
  async answer(session: PluginSession, results: ReadonlyMap<string, unknown>): Promise<void> {
    this.#session = session;
    for (const callId of [...this.#waitingFor]) {
      await handOver(session, callId, { kind: 'output', output: results.get(callId) });
      this.#waitingFor.delete(callId);
    }
  }

  /** Reads the run up to the end of one answer. */
  read(words: AnswerWords, options: Pick<DialectOptions, 'signal' | 'response'>): AnswerReader {
    this.#before = this.#said;
    const stream = this.#session.stream(this.#dialect(words), { ...options, from: this.#cursor });
    const end = Promise.race([stream.over, this.#failed.promise]).then((reached) => reached!());
    end.catch(() => {});
    return { end, finish: (text) => stream.finish(text) };
  }

  /** The state is the end, once it is reached. A failed run fails only after its text was told. */
  #dialect({ first, part }: AnswerWords): Dialect<(() => AnswerEnd) | null> {
    return {
      begin: () => ({ state: null, text: first() }),
      encode: (_, events, { isHead }) => {
        let text = '';
        for (const event of events) {
          if (event.type === 'gap' || event.type === 'auth_expired') throw cutOff(event);
          if (event.cursor !== undefined) this.#cursor = event.cursor;
          if (!('runId' in event) || event.runId !== this.runId) continue;
          if (event.type === 'message_end') {
            this.#ended = true;
            const calls = [...this.#called.values()].map((call) => this.#toCall(call));
            for (const call of calls) text += part({ type: 'call', call });
            return { state: () => this.#end(event, calls.length > 0), text, over: true };
          }
          if (event.type === 'run_error')
            this.#error = new GatewayError({ code: event.code, message: event.message });
          const piece = this.#take(event);
          if (piece) text += part(piece);
          else this.#decline(event);
        }
        // Calls that were made together are asked together, in one append. Later ones belong to the next answer.
        if (this.#waitingFor.size === 0 || !isHead) return { state: null, text };
        const end = { finishReason: 'tool_calls', usage: undefined, waiting: true } as const;
        return { state: () => end, text, over: true };
      },
    };
  }

  #end({ stopReason, usage }: EventOf<'message_end'>, called: boolean): AnswerEnd {
    const finishReason = finish(stopReason, this.#error);
    return { finishReason: called ? 'tool_calls' : finishReason, usage, waiting: false };
  }

  #take(event: GatewayEvent): AnswerPart | null {
    switch (event.type) {
      case 'content_delta':
        this.#said += event.delta.length;
        return { type: 'text', delta: event.delta };
      case 'message_replaced': {
        const text = textOf(event);
        this.#said = text.length;
        return { type: 'again', text: text.slice(this.#before) };
      }
      case 'reasoning_delta':
        return { type: 'reasoning', delta: event.delta };
      case 'tool_use':
        if (this.#clientTools.has(event.name)) this.#called.set(event.callId, event);
        return null;
      case 'input_required': {
        const call = this.#called.get(event.callId);
        if (!call) return null;
        this.#called.delete(event.callId);
        this.#waitingFor.add(event.callId);
        return { type: 'call', call: this.#toCall(call) };
      }
      case 'input_result':
      case 'tool_result':
        this.#called.delete(event.callId);
        this.#waitingFor.delete(event.callId);
        return null;
      default:
        return null;
    }
  }

  #toCall(call: EventOf<'tool_use'>): ChatToolCall | ChatCustomCall {
    const { callId: id, name, input } = call;
    if (!this.#customTools.has(name)) return toToolCall(call);
    return { id, type: 'custom', custom: { name, input: textInput(input) } };
  }

  /** A question in a lasting session waits for its subscribers. A session that ends with the run has none. */
  #decline(event: GatewayEvent): void {
    if (!this.ephemeral) return;
    if (event.type !== 'input_required' && event.type !== 'tool_confirmation_required') return;
    handOver(this.#session, event.callId, { kind: 'failure', reason: UNATTENDED }).catch(this.#failed.reject);
  }

  /** Resolves when the session's history holds the run's answer. @throws GatewayError */
  async ended(): Promise<void> {
    if (this.#ended) return;
    for await (const event of this.#session.events({ from: this.#cursor })) {
      if (event.type === 'gap' || event.type === 'auth_expired') return;
      if (event.type === 'message_end' && event.runId === this.runId) return;
    }
  }

  /** Ends the run if it has not ended, and discards an ephemeral session. Never rejects. */
  async close(reason: string): Promise<void> {
    try {
      if (!this.#ended) await this.#session.abort({ runId: this.runId, reason });
      if (this.ephemeral) await this.#session.discard();
    } catch (error) {
      if ((error as GatewayError).code !== 'SESSION_NOT_FOUND')
        this.#report(error, `the run ${this.runId} could not be put away`);
    }
  }
}

/** @throws GatewayError for an end that is not the app's own */
function finish(reason: StopReason, error: GatewayError | null): ChatFinishReason {
  switch (reason) {
    case 'end':
    case 'max_tokens':
    case 'moderated':
      return toFinishReason(reason);
    // Calls of tools that the caller did not bring are not told. Without other calls this is a normal end.
    case 'tool_use':
    // A person goes on in place of the app.
    case 'taken_over':
    case 'handed_off':
      return 'stop';
    case 'lost':
      throw new GatewayError({ code: 'SHUTTING_DOWN', message: failureOf(reason)!.message });
    case 'timeout':
    case 'budget':
    case 'error':
      throw error ?? new GatewayError(failureOf(reason)!);
    default:
      throw new GatewayError({ code: 'ABORTED', status: 409, message: `The run was ended: ${reason}` });
  }
}

function cutOff({ type }: EventOf<'gap'> | EventOf<'auth_expired'>): GatewayError {
  if (type === 'auth_expired') {
    return new GatewayError({ code: 'UNAUTHENTICATED', message: 'The key has expired during the answer' });
  }
  return new GatewayError({
    code: 'OVERLOADED',
    message: 'The answer was read too slowly to be complete',
  });
}

function failure(): { readonly promise: Promise<never>; reject(error: unknown): void } {
  let reject!: (error: unknown) => void;
  const promise = new Promise<never>((_, fail) => {
    reject = fail;
  });
  promise.catch(() => {});
  return { promise, reject };
}
