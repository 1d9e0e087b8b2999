import { GatewayError } from '../../../shared/errors.js';
import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import type { StopReason, Usage } from '../../../shared/messages.js';
import type { ChatFinishReason, ChatToolCall } from '../../chat-format/chat-types.js';
import { toFinishReason, toToolCall } from '../../chat-format/to-chat.js';
import type { MaybePromise } from '../../maybe-promise.js';
import type { PluginSession } from '../plugin.js';
import { Lookahead } from './lookahead.js';

/** A piece of an answer. */
export type AnswerPart =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'call'; readonly call: ChatToolCall };

/** How an answer ended. */
export interface AnswerEnd {
  readonly finishReason: ChatFinishReason;
  /** What the app reported for the whole run. */
  readonly usage: Usage | undefined;
  /** Whether the run waits for the results of the calls it made. */
  readonly waiting: boolean;
}

/** What a run is begun or taken up with. */
export interface ChatRunInit {
  readonly session: PluginSession;
  readonly app: string;
  readonly runId: string;
  /** Place in the session's events behind which the run is read. */
  readonly cursor: string;
  /** Whether the session is dropped with the run. */
  readonly ephemeral: boolean;
  /** Names of the caller's tools. */
  readonly clientTools: ReadonlySet<string>;
  /** Ids of calls that wait for the caller. */
  readonly waitingFor?: readonly string[];
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
  readonly #report: ChatRunInit['report'];
  /** Calls by the app that may be for the caller: known once they ask for an answer, or the run ends without a result. */
  readonly #called = new Map<string, EventOf<'tool_use'>>();
  readonly #waitingFor: Set<string>;
  #session: PluginSession;
  #cursor: string;
  #ended = false;

  constructor({ session, app, runId, cursor, ephemeral, clientTools, waitingFor, report }: ChatRunInit) {
    this.#session = session;
    this.app = app;
    this.runId = runId;
    this.#cursor = cursor;
    this.ephemeral = ephemeral;
    this.#clientTools = clientTools;
    this.#waitingFor = new Set(waitingFor);
    this.#report = report;
  }

  get sessionId(): string {
    return this.#session.id;
  }

  /** Ids of the calls that the caller was told of and has not answered. */
  get waitingFor(): ReadonlySet<string> {
    return this.#waitingFor;
  }

  /** Hands over what the caller's tools answered. @param session The session as the caller may reach it now. */
  async answer(session: PluginSession, results: ReadonlyMap<string, unknown>): Promise<void> {
    this.#session = session;
    for (const callId of [...this.#waitingFor]) {
      await this.#respond(callId, { output: results.get(callId) });
      this.#waitingFor.delete(callId);
    }
  }

  /** Answers a call or question; somebody else may have been first, or the run may have ended, which its events tell. */
  async #respond(callId: string, answer: Parameters<PluginSession['respond']>[1]): Promise<void> {
    try {
      await this.#session.respond(callId, answer);
    } catch (error) {
      const { code } = error as GatewayError;
      if (code !== 'ALREADY_ANSWERED' && code !== 'CALL_NOT_FOUND') throw error;
    }
  }

  /**
   * Reads the run up to the end of one answer, no faster than its parts are taken.
   *
   * @throws GatewayError why there is no whole answer: `ABORTED` also when the signal ended it
   */
  async read(signal: AbortSignal, tell: (part: AnswerPart) => MaybePromise<void>): Promise<AnswerEnd> {
    const left = new AbortController();
    const events = this.#session.events({
      cursor: this.#cursor,
      signal: AbortSignal.any([signal, left.signal]),
    });
    const ahead = new Lookahead(events[Symbol.asyncIterator]());
    let error: GatewayError | null = null;
    try {
      for (;;) {
        const next = await (this.#waitingFor.size > 0 ? ahead.inThisTurn() : ahead.next());
        // What comes later belongs to the next answer.
        if (!next) return { finishReason: 'tool_calls', usage: undefined, waiting: true };
        if (next.done) throw signal.aborted ? new GatewayError({ code: 'ABORTED' }) : cutOff();
        const event = next.value;
        if (event.type === 'gap' || event.type === 'auth_expired') throw cutOff(event);
        if (event.cursor !== undefined) this.#cursor = event.cursor;
        if (!('runId' in event) || event.runId !== this.runId) continue;
        if (event.type === 'message_end') return await this.#end(event, error, tell);
        if (event.type === 'run_error')
          error = new GatewayError({ code: event.code, message: event.message });
        const part = this.#take(event);
        const taken = part ? tell(part) : this.#decline(event);
        if (taken) await taken;
      }
    } finally {
      left.abort();
      ahead.leave();
    }
  }

  async #end(
    { stopReason, usage }: EventOf<'message_end'>,
    error: GatewayError | null,
    tell: (part: AnswerPart) => MaybePromise<void>,
  ): Promise<AnswerEnd> {
    this.#ended = true;
    const finishReason = finish(stopReason, error);
    const calls = [...this.#called.values()];
    for (const call of calls) await tell({ type: 'call', call: toToolCall(call) });
    return { finishReason: calls.length > 0 ? 'tool_calls' : finishReason, usage, waiting: false };
  }

  #take(event: GatewayEvent): AnswerPart | null {
    switch (event.type) {
      case 'content_delta':
        return { type: 'text', delta: event.delta };
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
        return { type: 'call', call: toToolCall(call) };
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

  /** In a session of its caller's own a question waits for whoever follows it; in one that ends with the run nobody does. */
  #decline(event: GatewayEvent): Promise<void> | null {
    if (!this.ephemeral) return null;
    if (event.type !== 'input_required' && event.type !== 'tool_confirmation_required') return null;
    return this.#respond(event.callId, { approved: false, reason: UNATTENDED });
  }

  /** Resolves when the session's history holds what the run answers. @throws GatewayError */
  started(): Promise<void> {
    return this.#reaches(['message_start', 'message_end']);
  }

  /** Resolves when the session's history holds what the run said. @throws GatewayError */
  async ended(): Promise<void> {
    if (!this.#ended) await this.#reaches(['message_end']);
  }

  async #reaches(types: readonly string[]): Promise<void> {
    for await (const event of this.#session.events({ cursor: this.#cursor })) {
      if (event.type === 'gap' || event.type === 'auth_expired') return;
      if ('runId' in event && event.runId === this.runId && types.includes(event.type)) return;
    }
  }

  /** Ends the run if it has not ended, and drops the session if that is not kept. Never rejects. */
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
      return toFinishReason(reason);
    // Calls of tools that the caller did not bring are not told; without any, this is an end like others.
    case 'tool_use':
      return 'stop';
    case 'timeout':
      throw new GatewayError({ code: 'TIMEOUT', message: 'The run took too long' });
    case 'lost':
      throw new GatewayError({ code: 'SHUTTING_DOWN', message: 'The run was lost: its gateway went away' });
    case 'error':
      throw error ?? new GatewayError({ code: 'INTERNAL', message: 'The app failed' });
    default:
      throw new GatewayError({ code: 'ABORTED', status: 409, message: `The run was ended: ${reason}` });
  }
}

function cutOff(event?: EventOf<'gap'> | EventOf<'auth_expired'>): GatewayError {
  if (event?.type === 'auth_expired') {
    return new GatewayError({ code: 'UNAUTHENTICATED', message: 'The key has expired during the answer' });
  }
  const message = event ? 'The answer was read too slowly to be complete' : 'The answer was cut off';
  return new GatewayError({ code: 'OVERLOADED', message });
}
