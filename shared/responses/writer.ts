import type { EventOf, GatewayEvent } from '../events.js';
import type { StopReason, Usage } from '../messages.js';
import { failureOf, type RunFailure } from '../run-failure.js';
import type { SegmentWriter } from '../segment-stream.js';
import type { AskingEvent } from '../segments.js';
import type { Subagent } from '../subagents.js';
import { clientCallId, type IdentifiedRun, itemId, responseId } from './ids.js';
import { argumentsOf, givenItems, outputItem, textInput, textOfValue } from './items.js';
import { ResponseOutput } from './output.js';
import { CallersQuestions } from './questions.js';
import {
  echoed,
  echoIn,
  type ResponseEcho,
  type ResponseEventFrame,
  type ResponseItem,
  type ResponseObject,
  type ResponseStatus,
  type ResponseWriterOptions,
} from './types.js';
import { toResponseUsage } from './usage.js';

interface ResponseCall {
  readonly name: string;
  input: unknown;
  /** Whether the caller was told this call as one of its own tool. The result is then not told. */
  told?: boolean;
  approvalId?: string;
  denied?: string;
}

/** How a response ended. */
interface End {
  readonly status: ResponseStatus;
  readonly rest?: object;
}

/**
 * Tells a run's events as those of responses, one for each segment: a fold without clock or chance, so that the same events are the same
 * frames for every reader. Feed it each event of the run once, in order.
 */
export class ResponseWriter implements SegmentWriter<ResponseEventFrame> {
  readonly #run: IdentifiedRun;
  readonly #showsOwn: boolean;
  readonly #questions: CallersQuestions;
  readonly #output: ResponseOutput;
  readonly #calls = new Map<string, ResponseCall>();
  #echo: ResponseEcho = {};
  #app = '';
  #segment = 0;
  #createdAt: number | null = null;
  #ts = 0;
  #status: ResponseStatus = 'in_progress';
  #ended: object = {};
  #input: ResponseItem[] = [];
  #error: RunFailure | null = null;
  /** Child runs that have ended, and are not told yet. */
  #children: Subagent[] = [];

  constructor(run: IdentifiedRun, options: ResponseWriterOptions) {
    this.#run = run;
    this.#showsOwn = options.ownTools !== 'hide';
    this.#questions = new CallersQuestions(options);
    this.#output = new ResponseOutput(run);
  }

  /** The items that the response answers: messages, or results of functions and approvals. */
  get input(): readonly ResponseItem[] {
    return this.#input;
  }

  /** The response so far. */
  get response(): ResponseObject {
    const { sessionId, runId } = this.#run;
    const name = { sessionId, runId, index: this.#segment };
    const before = this.#segment > 0 && {
      previous_response_id: responseId({ ...name, index: this.#segment - 1 }),
    };
    return {
      id: responseId(name),
      object: 'response',
      created_at: seconds(this.#createdAt ?? this.#ts),
      completed_at: this.#status === 'completed' ? seconds(this.#ts) : null,
      status: this.#status,
      incomplete_details: null,
      error: null,
      model: this.#echo.model ?? this.#app,
      ...echoed(this.#echo),
      ...before,
      output: this.#output.items,
      usage: null,
      ...this.#ended,
    };
  }

  asks(event: AskingEvent): boolean {
    return this.#questions.asks(event);
  }

  take(event: GatewayEvent): ResponseEventFrame[] {
    this.#questions.take(event);
    this.#ts = event.ts ?? this.#ts;
    if (event.type === 'message_accepted') return this.#accepted(event);
    this.#noteAnswer(event);
    const begin = this.#createdAt === null ? this.#begin('in_progress') : [];
    return [...begin, ...this.#tell(event)];
  }

  /** The API has no item for it. */
  block(): ResponseEventFrame[] {
    return [];
  }

  pause(): ResponseEventFrame[] {
    return [...this.#output.close(), ...this.#tellChildren(), this.#end({ status: 'completed' })];
  }

  /** A child run is a call at the end of its response, for it may end within a text. One that works for a call is told by that call. */
  subagent(subagent: Subagent): ResponseEventFrame[] {
    const { state, callId } = subagent;
    if (state === 'ended' && callId === undefined && this.#showsOwn) this.#children.push(subagent);
    return [];
  }

  #tellChildren(): ResponseEventFrame[] {
    const children = this.#children;
    this.#children = [];
    return children.flatMap(({ runId, app, name, text, stopReason, error }) => {
      const failure = failureOf(stopReason!, error)?.message ?? null;
      const call = { name: app, input: name === undefined ? {} : { name } };
      return this.#ownCall(runId, call, failure === null ? { output: text } : { error: failure });
    });
  }

  /** The next response begins, with the first event of its segment. */
  resume(): ResponseEventFrame[] {
    this.#segment += 1;
    this.#output.next();
    this.#createdAt = null;
    this.#status = 'in_progress';
    this.#ended = {};
    this.#input = [];
    return [];
  }

  pass(): ResponseEventFrame[] {
    return this.#output.close();
  }

  #tell(event: GatewayEvent): ResponseEventFrame[] {
    switch (event.type) {
      case 'message_start':
        this.#app = event.app;
        this.#status = 'in_progress';
        return [this.#state('response.in_progress')];
      case 'content_delta':
        return this.#output.delta('text', event);
      case 'reasoning_delta':
        return this.#output.delta('reasoning', event);
      case 'tool_use': {
        const { callId, name, input } = event;
        this.#calls.set(callId, { name, input });
        return this.#output.close();
      }
      case 'tool_confirmation_required':
        return this.asks(event) ? this.#toApprove(event) : [];
      case 'tool_confirmation_result':
        this.#approved(event);
        return [];
      case 'input_required': {
        if (!this.asks(event)) return [];
        const { callId, name, payload } = event;
        const call = this.#call(callId, name, payload);
        return this.#callersCall(callId, call, payload ?? call.input);
      }
      case 'tool_result':
        return this.#answered(event);
      case 'message_replaced':
        return this.#output.retract(event.content);
      case 'run_error':
        this.#error = event;
        return [];
      case 'message_end':
        return this.#over(event);
      default:
        return [];
    }
  }

  #accepted({ message, preceding = [], position }: EventOf<'message_accepted'>): ResponseEventFrame[] {
    this.#echo = echoIn(message.metadata);
    this.#input = [...preceding, message].flatMap((given) => givenItems(given, this.#run));
    if (position === 0) return this.#begin('in_progress');
    return [...this.#begin('queued'), this.#state('response.queued')];
  }

  /** The caller's answer becomes the input of the next response. */
  #noteAnswer(event: GatewayEvent): void {
    if (event.type === 'input_result') {
      const { callId, output } = event;
      const call = this.#calls.get(callId);
      if (call?.told)
        this.#input.push(outputItem(callId, output, this.#run, this.#questions.takesText(call.name)));
    }
    if (event.type !== 'tool_confirmation_result') return;
    const { callId, approved, reason } = event;
    const id = this.#calls.get(callId)?.approvalId;
    if (id === undefined) return;
    const answer = { approval_request_id: id, approve: approved, ...(reason !== undefined && { reason }) };
    this.#input.push({ id: `mcpa_${callId}`, type: 'mcp_approval_response', ...answer });
  }

  #begin(status: ResponseStatus): ResponseEventFrame[] {
    this.#createdAt = this.#ts;
    this.#status = status;
    const created = this.#state('response.created');
    return this.#segment === 0 ? [created] : [created, this.#state('response.in_progress')];
  }

  #call(callId: string, name: string, input: unknown): ResponseCall {
    const call: ResponseCall = this.#calls.get(callId) ?? { name, input };
    this.#calls.set(callId, call);
    return call;
  }

  #callersCall(callId: string, call: ResponseCall, input: unknown): ResponseEventFrame[] {
    call.told = true;
    const { name } = call;
    if (this.#questions.takesText(name)) return this.#customCall(callId, name, textInput(input));
    const text = argumentsOf(input);
    const id = itemId('fc', this.#run, callId);
    const base = { id, type: 'function_call', call_id: clientCallId(callId, this.#run), name };
    return this.#output.whole(
      { ...base, arguments: '', status: 'in_progress' },
      { ...base, arguments: text, status: 'completed' },
      [
        ['response.function_call_arguments.delta', { delta: text }],
        ['response.function_call_arguments.done', { name, arguments: text }],
      ],
    );
  }

  #customCall(callId: string, name: string, input: string): ResponseEventFrame[] {
    const id = itemId('ctc', this.#run, callId);
    const base = { id, type: 'custom_tool_call', call_id: clientCallId(callId, this.#run), name };
    return this.#output.whole(
      { ...base, input: '', status: 'in_progress' },
      { ...base, input, status: 'completed' },
      [
        ['response.custom_tool_call_input.delta', { delta: input }],
        ['response.custom_tool_call_input.done', { input }],
      ],
    );
  }

  #toApprove({ callId, name, input }: EventOf<'tool_confirmation_required'>): ResponseEventFrame[] {
    const call = this.#call(callId, name, input);
    const id = itemId('mcpr', this.#run, callId);
    call.approvalId = id;
    const item = { id, type: 'mcp_approval_request', ...this.#own(name, input) };
    return this.#output.whole(item, item);
  }

  #approved({ callId, approved, reason, input }: EventOf<'tool_confirmation_result'>): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    if (!approved) call.denied = reason === undefined ? 'Denied' : `Denied: ${reason}`;
    else if (input !== undefined) call.input = input;
  }

  #own(name: string, input: unknown): object {
    return { server_label: this.#app, name, arguments: argumentsOf(input) };
  }

  /**
   * Tells a call of the app's own once its result is known. A call that still needs an approval must not appear as a call, and an item that was begun
   * must end in the same response.
   */
  #answered({ callId, name, output, isError }: EventOf<'tool_result'>): ResponseEventFrame[] {
    const call = this.#call(callId, name, {});
    if (call.told || !this.#showsOwn) return [];
    const error = call.denied ?? (isError ? textOfValue(output) : null);
    return this.#ownCall(callId, call, error === null ? { output: textOfValue(output) } : { error });
  }

  /** A call of the app's own that has a result. */
  #ownCall(
    callId: string,
    {
      name,
      input,
      approvalId = null,
    }: Omit<ResponseCall, 'approvalId'> & { readonly approvalId?: string | null },
    result: { readonly output: string } | { readonly error: string },
  ): ResponseEventFrame[] {
    const base = {
      id: itemId('mcp', this.#run, callId),
      type: 'mcp_call',
      ...this.#own(name, input),
      approval_request_id: approvalId,
    };
    const text = argumentsOf(input);
    const status = 'error' in result ? 'failed' : 'completed';
    return this.#output.whole(
      { ...base, arguments: '', status: 'in_progress', output: null, error: null },
      { ...base, status, output: null, error: null, ...result },
      [
        ['response.mcp_call.in_progress'],
        ['response.mcp_call_arguments.delta', { delta: text }],
        ['response.mcp_call_arguments.done', { arguments: text }],
        [`response.mcp_call.${status}`],
      ],
    );
  }

  #over({ stopReason, usage, message }: EventOf<'message_end'>): ResponseEventFrame[] {
    const end = endOf(stopReason, this.#error);
    const answered = new Set(
      message.content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])),
    );
    const frames = [...this.#output.close(), ...this.#tellChildren()];
    // Calls that the app leaves to its caller, whose results begin another run.
    if (end.status === 'completed')
      for (const [callId, call] of this.#calls)
        if (!call.told && !answered.has(callId) && this.#questions.brought(call.name))
          frames.push(...this.#callersCall(callId, call, call.input));
    return [...frames, this.#end(end, usage)];
  }

  #end({ status, rest }: End, usage?: Usage): ResponseEventFrame {
    this.#status = status;
    this.#ended = { usage: toResponseUsage(usage, this.#input, this.#output.items), ...rest };
    // The API has no event for a cancelled response.
    return this.#state(`response.${status === 'cancelled' ? 'incomplete' : status}`);
  }

  #state(type: string): ResponseEventFrame {
    return this.#output.frame(type, { response: this.response });
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function endOf(stopReason: StopReason, error: RunFailure | null): End {
  switch (stopReason) {
    case 'max_tokens':
      return { status: 'incomplete', rest: { incomplete_details: { reason: 'max_output_tokens' } } };
    case 'moderated':
      return { status: 'incomplete', rest: { incomplete_details: { reason: 'content_filter' } } };
    case 'aborted':
    case 'superseded':
      return { status: 'cancelled', rest: { incomplete_details: { reason: stopReason } } };
    default: {
      const failed = failureOf(stopReason, error);
      if (!failed) return { status: 'completed' };
      const code = failed.code === 'BUDGET_EXHAUSTED' ? 'insufficient_quota' : 'server_error';
      // The AI SDK reads no error without a type.
      return { status: 'failed', rest: { error: { type: code, code, message: failed.message } } };
    }
  }
}
