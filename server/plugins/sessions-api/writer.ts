import { parseCursor } from '../../../shared/cursor.js';
import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import { failureOf, type RunFailure } from '../../../shared/run-failure.js';
import { contentOf, outputOf } from './content.js';
import { eventId, threadId } from './ids.js';

/** An event of the API. */
export type ApiEvent = { readonly type: string; readonly id?: string } & Readonly<Record<string, unknown>>;

/** An event, and the run whose it is; absent for those of the session itself. */
export interface ApiFrame {
  readonly event: ApiEvent;
  readonly runId?: string;
  /** Whether it is a piece of an event that comes whole later. */
  readonly isPiece?: boolean;
  /** Whether the run is a child, which has a thread of its own. */
  readonly isLane?: boolean;
}

/** The session's own stream tells those events of a child run that people may have to answer. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['agent.tool_use', 'agent.custom_tool_use', 'user.tool_confirmation', 'user.custom_tool_result'],
  ...['session.status_idle', 'session.status_running'],
]);

/** Whether a stream tells a frame. @param thread The child run whose stream it is; undefined for the session's */
export function passes({ event, runId, isLane }: ApiFrame, thread: string | undefined): boolean {
  if (thread !== undefined) return runId === thread;
  return !isLane || SHOWN.has(event.type);
}

interface ToldBlock {
  readonly id: string;
  readonly index: number;
  readonly type: 'agent.message' | 'agent.thinking';
  text: string;
}

/** A run that is being told. */
interface ApiRun {
  count: number;
  begun: boolean;
  readonly isLane: boolean;
  block: ToldBlock | null;
  /** Blocks that were told whole. */
  whole: ToldBlock[];
  readonly calls: Map<string, { readonly id: string; readonly isCustom: boolean }>;
  /** Ids of calls that wait for a person. */
  readonly open: Map<string, string>;
  error: RunFailure | null;
}

const ASKING: ReadonlySet<string> = new Set(['tool_confirmation_required', 'input_required']);

/**
 * Converts a session's events to those of the API. It is a fold without clock or chance: feed it the events from the beginning of a run on,
 * each once, in order, and that run's events are the same for every reader.
 */
export class ApiWriter {
  readonly #runs = new Map<string, ApiRun>();
  /** Ids of events whose text was taken back later. */
  readonly gone = new Set<string>();

  /** Names the call that waits behind an id; undefined if nothing waits. */
  callOf(id: string): string | undefined {
    for (const { calls } of this.#runs.values())
      for (const [callId, call] of calls) if (call.id === id) return callId;
    return undefined;
  }

  /** @param next The events that came together with it, and follow */
  take(event: GatewayEvent, next: readonly GatewayEvent[] = []): ApiFrame[] {
    if (event.type === 'session_updated') {
      // A session begins with what it is called.
      if (parseCursor(event.cursor)?.seq === 1) return [];
      const { title, metadata } = event;
      const changed = { ...(title !== undefined && { title }), ...(metadata !== undefined && { metadata }) };
      return [this.#ofSession(event, 'session.updated', changed)];
    }
    if (event.type === 'session_closed') {
      const type = event.reason === 'deleted' ? 'session.deleted' : 'session.status_terminated';
      return [this.#ofSession(event, type, {})];
    }
    const runId = 'runId' in event ? event.runId : undefined;
    if (runId === undefined) return [];
    if (event.type === 'message_accepted' || event.type === 'run_spawned') {
      const isLane = event.type === 'run_spawned';
      this.#runs.set(runId, {
        ...{ count: 0, begun: isLane, isLane, block: null, whole: [] },
        ...{ calls: new Map(), open: new Map(), error: null },
      });
      const { content } = event.message;
      const frames = [this.#event(event, 'user.message', { content: contentOf(content) })];
      return isLane
        ? [...frames, ...this.#spawned(event as EventOf<'run_spawned'> & { runId: string })]
        : frames;
    }
    const run = this.#runs.get(runId);
    // Its beginning was not told here.
    return run ? this.#piece(run, event as RunEvent, next) : [];
  }

  #piece(run: ApiRun, event: RunEvent, next: readonly GatewayEvent[]): ApiFrame[] {
    switch (event.type) {
      case 'message_start':
        run.begun = true;
        return run.isLane ? [] : [this.#event(event, 'session.status_running')];
      case 'content_delta':
        return this.#delta(run, event, 'agent.message');
      case 'reasoning_delta':
        return this.#delta(run, event, 'agent.thinking');
      case 'tool_use': {
        const isCustom = event.runsOn === 'client';
        const frames = this.#close(run, event);
        return [...frames, this.#call(run, event, isCustom, event.input)];
      }
      case 'tool_result': {
        const call = run.calls.get(event.callId);
        if (!call || call.isCustom) return [];
        const said = { tool_use_id: call.id, content: outputOf(event.output), is_error: event.isError };
        return [...this.#close(run, event), this.#event(event, 'agent.tool_result', said)];
      }
      case 'message_replaced':
        return this.#replaced(run, event);
      case 'run_error':
        run.error = event;
        return [];
      case 'message_end':
        return this.#end(run, event, next);
      case 'tool_confirmation_required':
      case 'input_required':
        return this.#ask(run, event, next);
      case 'tool_confirmation_result':
      case 'input_result':
        return this.#answered(run, event);
      default:
        return [];
    }
  }

  #delta(
    run: ApiRun,
    event: RunEvent & { readonly index: number; readonly delta: string },
    type: ToldBlock['type'],
    count?: number,
  ): ApiFrame[] {
    const isSame = run.block?.index === event.index && run.block.type === type;
    const frames = isSame ? [] : this.#close(run, event);
    const piece = { runId: event.runId, isPiece: true, isLane: run.isLane };
    if (run.block === null) {
      const id = eventId(event.runId, count ?? run.count++);
      run.block = { id, index: event.index, type, text: '' };
      frames.push({ ...piece, event: { type: 'event_start', event: { id, type } } });
    }
    const { block } = run;
    block.text += event.delta;
    const { id } = block;
    // Thinking is not shown in this API, only that it takes place.
    if (type === 'agent.thinking') return frames;
    const content = { type: 'text', text: event.delta };
    const delta = { type: 'content_delta', index: 0, content };
    return [...frames, { ...piece, event: { type: 'event_delta', event_id: id, delta } }];
  }

  /** Ends the block that grows. */
  #close(run: ApiRun, { runId, ts }: RunEvent): ApiFrame[] {
    const { block } = run;
    run.block = null;
    if (!block) return [];
    run.whole.push(block);
    const { id, type, text } = block;
    const said = type === 'agent.message' && { content: [{ type: 'text', text }] };
    return [{ runId, isLane: run.isLane, event: { id, type, processed_at: iso(ts), ...said } }];
  }

  /** The event that grew never comes. Text that is left begins another one, unless it was told whole. */
  #replaced(run: ApiRun, event: RunEvent & Pick<EventOf<'message_replaced'>, 'content'>): ApiFrame[] {
    const { content } = event;
    const { block, whole } = run;
    const model_usage = { input_tokens: 0, output_tokens: 0, ...NO_CACHE };
    const ended = { is_error: true, model_request_start_id: block?.id ?? '', model_usage };
    const frames = block ? [this.#event(event, 'span.model_request_end', ended)] : [];
    run.block = null;
    // Taken by every reader, even if what is left was blanked meanwhile.
    const count = run.count++;
    const at = content.length - 1;
    const last = content[at];
    const isText = last?.type === 'text' || last?.type === 'reasoning';
    run.whole = whole.filter(
      ({ index, text }) => index < at || (index === at && isText && text === last.text),
    );
    for (const { id } of whole.filter((each) => !run.whole.includes(each))) this.gone.add(id);
    if (!isText || run.whole.some(({ index }) => index === at)) return frames;
    const type = last.type === 'text' ? 'agent.message' : 'agent.thinking';
    return [...frames, ...this.#delta(run, { ...event, index: at, delta: last.text }, type, count)];
  }

  #call(run: ApiRun, event: RunEvent & { callId: string; name: string }, isCustom: boolean, input: unknown) {
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
    const said = { name: event.name, input: isObject ? input : { input: input ?? null } };
    const type = isCustom ? 'agent.custom_tool_use' : 'agent.tool_use';
    const frame = this.#event(event, type, { ...said, ...this.#thread(run, event.runId) });
    run.calls.set(event.callId, { id: frame.event.id!, isCustom });
    return frame;
  }

  #ask(run: ApiRun, event: RunQuestion, next: readonly GatewayEvent[]): ApiFrame[] {
    const frames = this.#close(run, event);
    if (!run.calls.has(event.callId))
      frames.push(
        event.type === 'input_required'
          ? this.#call(run, event, true, event.payload)
          : this.#call(run, event, false, event.input),
      );
    run.open.set(event.callId, run.calls.get(event.callId)!.id);
    // Questions that were put together are told together.
    const isMore = next.some(
      (other) =>
        ASKING.has(other.type) &&
        'runId' in other &&
        other.runId === event.runId &&
        'batch' in other &&
        other.batch === event.batch,
    );
    return isMore ? frames : [...frames, this.#idle(event, this.#asked(run))];
  }

  #answered(run: ApiRun, event: RunAnswer): ApiFrame[] {
    const id = run.open.get(event.callId);
    if (id === undefined) return [];
    run.open.delete(event.callId);
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
    return [
      told,
      run.open.size > 0 ? this.#idle(event, this.#asked(run)) : this.#event(event, 'session.status_running'),
    ];
  }

  #asked({ open }: ApiRun): object {
    return { type: 'requires_action', event_ids: [...open.values()] };
  }

  #end(
    run: ApiRun,
    event: EventOf<'message_end'> & { readonly runId: string },
    next: readonly GatewayEvent[],
  ): ApiFrame[] {
    const { stopReason, runId, message } = event;
    // An answer that staff take back ends first, in the same append.
    const isGone = next.some(
      (other) => other.type === 'message_replaced' && other.messageId === message.id && other.retracted,
    );
    const gone = isGone || message.retracted ? this.#replaced(run, { ...event, content: [] }) : [];
    const frames = [...gone, ...this.#close(run, event)];
    // The protocol has a stop reason for it, and no error.
    const isSpent = stopReason === 'budget';
    const failed = isSpent ? null : failureOf(stopReason, run.error);
    if (failed && run.begun) {
      const error = {
        type: 'unknown_error',
        message: failed.message,
        retry_status: { type: 'terminal' },
      };
      frames.push(this.#event(event, 'session.error', { error }));
    }
    const reason = { type: isSpent ? 'budget_reached' : failed ? 'retries_exhausted' : 'end_turn' };
    if (run.isLane)
      frames.push(this.#ofThread(event, 'session.thread_status_idle', message.app ?? '', idleWith(reason)));
    // A message that was taken back in the queue has no turn that ends.
    else if (run.begun) frames.push(this.#idle(event, reason));
    this.#runs.delete(runId);
    return frames;
  }

  #idle(event: RunEvent, stopReason: object): ApiFrame {
    return this.#event(event, 'session.status_idle', idleWith(stopReason));
  }

  #spawned(event: EventOf<'run_spawned'> & { readonly runId: string }): ApiFrame[] {
    return [
      this.#ofThread(event, 'session.thread_created', event.app, { workflow_run_id: null }),
      this.#ofThread(event, 'session.thread_status_running', event.app, {}),
    ];
  }

  #ofThread(
    event: GatewayEvent & { readonly runId?: string },
    type: string,
    name: string,
    rest: object,
  ): ApiFrame {
    const thread = { agent_name: name, session_thread_id: threadId(event.runId!) };
    return this.#ofSession(event, type, { ...thread, ...rest });
  }

  #thread({ isLane }: ApiRun, runId: string): object {
    return isLane ? { session_thread_id: threadId(runId) } : {};
  }

  #event(
    event: { readonly runId?: string; readonly ts?: number },
    type: string,
    rest: object = {},
  ): ApiFrame {
    const runId = event.runId!;
    const run = this.#runs.get(runId)!;
    const id = eventId(runId, run.count++);
    return { runId, isLane: run.isLane, event: { id, type, processed_at: iso(event.ts), ...rest } };
  }

  #ofSession({ cursor, ts }: GatewayEvent, type: string, rest: object): ApiFrame {
    return { event: { id: eventId('at', cursor ?? '', type), type, processed_at: iso(ts), ...rest } };
  }
}

const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

const idleWith = (reason: object): object => ({ stop_reason: reason, stop_details: null });

const iso = (ts = 0): string => new Date(ts).toISOString();

type RunEvent = GatewayEvent & { readonly runId: string };
type RunQuestion = (EventOf<'tool_confirmation_required'> | EventOf<'input_required'>) & {
  readonly runId: string;
};
type RunAnswer = (EventOf<'tool_confirmation_result'> | EventOf<'input_result'>) & {
  readonly runId: string;
};
