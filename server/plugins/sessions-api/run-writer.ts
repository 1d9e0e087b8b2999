import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import { failureOf, type RunFailure } from '../../../shared/run-failure.js';
import { type AnsweringEvent, type AskingEvent, isAsking } from '../../../shared/segments.js';
import { contentOf, outputOf } from './content.js';
import { type ApiEvent, type ApiFrame, frameOf, iso } from './frames.js';
import { eventId, threadId } from './ids.js';

interface ToldBlock {
  readonly id: string;
  readonly index: number;
  readonly type: 'agent.message' | 'agent.thinking';
  text: string;
}

const NO_USAGE = {
  ...{ input_tokens: 0, output_tokens: 0 },
  ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
};

/** Converts the events of one run to those of the API. */
export class RunWriter {
  readonly #runId: string;
  readonly #isLane: boolean;
  readonly #gone: Set<string>;
  #begun: boolean;
  #block: ToldBlock | null = null;
  /** Blocks that were told whole. */
  #whole: ToldBlock[] = [];
  /** The events of calls, by the calls. */
  readonly #calls = new Map<string, { readonly id: string; readonly isCustom: boolean }>();
  /** Ids of calls that wait for a person. */
  readonly #open = new Map<string, string>();
  #error: RunFailure | null = null;

  /** @param isLane Whether it is a child. @param gone Collects the ids of events whose text was taken back later */
  constructor(runId: string, isLane: boolean, gone: Set<string>) {
    this.#runId = runId;
    this.#isLane = isLane;
    this.#begun = isLane;
    this.#gone = gone;
  }

  /** @param next The events that came together with it, and follow */
  take(event: GatewayEvent, next: readonly GatewayEvent[]): ApiFrame[] {
    switch (event.type) {
      case 'message_accepted':
        return [this.#event(event, 'user.message', { content: contentOf(event.message.content) })];
      case 'run_spawned':
        return [
          this.#event(event, 'user.message', { content: contentOf(event.message.content) }),
          this.#thread(event, 'created', event.app, { workflow_run_id: null }),
          this.#thread(event, 'status_running', event.app),
        ];
      case 'message_start':
        this.#begun = true;
        return this.#isLane ? [] : [this.#event(event, 'session.status_running')];
      case 'content_delta':
        return this.#delta(event, 'agent.message');
      case 'reasoning_delta':
        return this.#delta(event, 'agent.thinking');
      case 'tool_use':
        return [...this.#close(event), this.#call(event, event.runsOn === 'client', event.input)];
      case 'tool_result': {
        const call = this.#calls.get(event.callId);
        if (!call || call.isCustom) return [];
        const said = { tool_use_id: call.id, content: outputOf(event.output), is_error: event.isError };
        return [...this.#close(event), this.#event(event, 'agent.tool_result', said)];
      }
      case 'message_replaced':
        return this.#replaced(event);
      case 'run_error':
        this.#error = event;
        return [];
      case 'message_end':
        return this.#end(event, next);
      case 'tool_confirmation_required':
      case 'input_required':
        return this.#ask(event, next);
      case 'tool_confirmation_result':
      case 'input_result':
        return this.#answered(event);
      default:
        return [];
    }
  }

  #delta(
    event: Pick<EventOf<'content_delta'>, 'cursor' | 'index' | 'delta' | 'ts'>,
    type: ToldBlock['type'],
  ): ApiFrame[] {
    const isSame = this.#block?.index === event.index && this.#block.type === type;
    const frames = isSame ? [] : this.#close(event);
    this.#block ??= { id: eventId(event.cursor, type), index: event.index, type, text: '' };
    this.#block.text += event.delta;
    return [...frames, this.#told({ event: grown(this.#block), delta: event.delta })];
  }

  /** Ends the block that grows. */
  #close({ ts }: { readonly ts?: number }): ApiFrame[] {
    const block = this.#block;
    this.#block = null;
    if (!block) return [];
    this.#whole.push(block);
    return [this.#told({ event: { ...grown(block), processed_at: iso(ts) } })];
  }

  /** The event that grew never comes. Text that is left begins another one, unless it was told whole. */
  #replaced(event: Pick<EventOf<'message_replaced'>, 'cursor' | 'content' | 'ts'>): ApiFrame[] {
    const { content } = event;
    const block = this.#block;
    this.#block = null;
    const ended = { is_error: true, model_request_start_id: block?.id ?? '', model_usage: NO_USAGE };
    const frames = block ? [this.#event(event, 'span.model_request_end', ended)] : [];
    const at = content.length - 1;
    const last = content[at];
    const text = last?.type === 'text' || last?.type === 'reasoning' ? last.text : null;
    const isLeft = (told: ToldBlock): boolean => told.index < at || (told.index === at && told.text === text);
    for (const told of this.#whole) if (!isLeft(told)) this.#gone.add(told.id);
    this.#whole = this.#whole.filter(isLeft);
    if (text === null || this.#whole.some(({ index }) => index === at)) return frames;
    const type = last!.type === 'text' ? 'agent.message' : 'agent.thinking';
    return [...frames, ...this.#delta({ ...event, index: at, delta: text }, type)];
  }

  #call(event: EventOf<'tool_use'> | AskingEvent, isCustom: boolean, input: unknown): ApiFrame {
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
    const frame = this.#event(event, isCustom ? 'agent.custom_tool_use' : 'agent.tool_use', {
      name: event.name,
      input: isObject ? input : { input: input ?? null },
      ...(this.#isLane && { session_thread_id: threadId(this.#runId) }),
    });
    this.#calls.set(event.callId, { id: frame.event.id!, isCustom });
    return frame;
  }

  #ask(event: AskingEvent, next: readonly GatewayEvent[]): ApiFrame[] {
    const { callId, runId, batch } = event;
    const frames = this.#close(event);
    if (!this.#calls.has(callId)) {
      const isCustom = event.type === 'input_required';
      frames.push(this.#call(event, isCustom, isCustom ? event.payload : event.input));
    }
    this.#open.set(callId, this.#calls.get(callId)!.id);
    // Questions that were put together are told together.
    const isMore = next.some((other) => isAsking(other) && other.runId === runId && other.batch === batch);
    return isMore ? frames : [...frames, this.#waiting(event)];
  }

  #answered(event: AnsweringEvent): ApiFrame[] {
    const id = this.#open.get(event.callId);
    if (id === undefined) return [];
    this.#open.delete(event.callId);
    const told =
      event.type === 'input_result'
        ? this.#event(event, 'user.custom_tool_result', {
            custom_tool_use_id: id,
            content: outputOf(event.output),
          })
        : this.#event(event, 'user.tool_confirmation', {
            tool_use_id: id,
            result: event.approved ? 'allow' : 'deny',
            deny_message: event.approved ? null : (event.reason ?? null),
          });
    return [told, this.#open.size > 0 ? this.#waiting(event) : this.#event(event, 'session.status_running')];
  }

  #waiting(event: AskingEvent | AnsweringEvent): ApiFrame {
    return this.#idle(event, { type: 'requires_action', event_ids: [...this.#open.values()] });
  }

  #end(event: EventOf<'message_end'>, next: readonly GatewayEvent[]): ApiFrame[] {
    const { stopReason, message } = event;
    // An answer that staff take back ends first, in the same append.
    const isGone = next.some(
      (other) => other.type === 'message_replaced' && other.messageId === message.id && other.retracted,
    );
    const gone = isGone || message.retracted ? this.#replaced({ ...event, content: [] }) : [];
    const frames = [...gone, ...this.#close(event)];
    // The protocol has a stop reason for it, and no error.
    const isSpent = stopReason === 'budget';
    const failed = isSpent ? null : failureOf(stopReason, this.#error);
    // A message that was taken back in the queue has no turn that ends.
    if (!this.#begun) return frames;
    if (failed) {
      const error = { type: 'unknown_error', message: failed.message, retry_status: { type: 'terminal' } };
      frames.push(this.#event(event, 'session.error', { error }));
    }
    const reason = { type: isSpent ? 'budget_reached' : failed ? 'retries_exhausted' : 'end_turn' };
    if (!this.#isLane) return [...frames, this.#idle(event, reason)];
    return [...frames, this.#thread(event, 'status_idle', message.app, idleWith(reason))];
  }

  #idle(event: GatewayEvent, reason: object): ApiFrame {
    return this.#event(event, 'session.status_idle', idleWith(reason));
  }

  /** An event of the session about the thread of a child run. */
  #thread(event: GatewayEvent, what: string, agent_name = '', rest: object = {}): ApiFrame {
    const thread = { agent_name, session_thread_id: threadId(this.#runId) };
    return frameOf(event, `session.thread_${what}`, { ...thread, ...rest });
  }

  #event(...given: Parameters<typeof frameOf>): ApiFrame {
    return this.#told(frameOf(...given));
  }

  #told(frame: ApiFrame): ApiFrame {
    return { ...frame, runId: this.#runId, isLane: this.#isLane };
  }
}

// Thinking is not shown in this API, only that it takes place.
const grown = ({ id, type, text }: ToldBlock): ApiEvent =>
  type === 'agent.message' ? { id, type, content: [{ type: 'text', text }] } : { id, type };

const idleWith = (reason: object): object => ({ stop_reason: reason, stop_details: null });
