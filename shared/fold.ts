import type { GatewayEvent, OnBusy } from './events.js';
import type { ContentBlock, Message, Usage } from './messages.js';

/** A message that was accepted and waits for its run. */
export interface QueuedMessage {
  readonly runId: string;
  readonly message: Message;
  readonly preceding?: readonly Message[];
  readonly onBusy: OnBusy;
}

/** A confirmation, a question or a client tool's call that nobody has answered yet. */
export interface PendingQuestion {
  readonly callId: string;
  readonly runId: string;
  readonly kind: 'confirmation' | 'input';
  readonly name: string;
  /** The tool's input, or the question's payload. */
  readonly input?: unknown;
  readonly schema?: unknown;
  readonly message?: string;
}

/** The latest progress a tool reported. */
export interface ToolProgress {
  readonly value: number;
  readonly total?: number;
  readonly message?: string;
}

/** The run in progress and its answer so far. */
export interface ActiveRun {
  readonly runId: string;
  readonly app: string;
  readonly message: Message;
  readonly usage?: Usage;
  readonly error?: { readonly code: string; readonly message: string };
  readonly progress?: Readonly<Record<string, ToolProgress>>;
}

/** A session, folded from its events. Plain JSON: it can be stored, sent and rendered on a server. */
export interface SessionState {
  /** Everything up to here is in this state; null before the first event. */
  readonly cursor: string | null;
  readonly messages: readonly Message[];
  /** Whether older messages exist than `messages` holds; read them with `history`. */
  readonly hasMore: boolean;
  readonly run: ActiveRun | null;
  readonly pending: readonly PendingQuestion[];
  readonly queue: readonly QueuedMessage[];
  readonly closed: boolean;
}

/** The state before any event. */
export const initialState: SessionState = Object.freeze({
  cursor: null,
  messages: [],
  hasMore: false,
  run: null,
  pending: [],
  queue: [],
  closed: false,
});

/**
 * Folds one event into the state. Pure: the given state is never changed, and types it does not know leave all but the cursor
 * as it was. Feed it each event once, in order; the SDK and the gateway do.
 */
export function reduce(state: SessionState, event: GatewayEvent): SessionState {
  const next = apply(state, event);
  const cursor = event.cursor;
  return cursor === undefined || cursor === next.cursor ? next : { ...next, cursor };
}

function apply(state: SessionState, event: GatewayEvent): SessionState {
  switch (event.type) {
    case 'content_delta':
      return grow(state, event.runId, event.index, 'text', event.delta);
    case 'reasoning_delta':
      return grow(state, event.runId, event.index, 'reasoning', event.delta);
    case 'message_accepted': {
      const { message, preceding, onBusy, runId } = event;
      const queued: QueuedMessage = { runId: runId!, message, onBusy, ...(preceding && { preceding }) };
      const queue = [...state.queue];
      queue.splice(Math.max(0, event.position - (state.run ? 1 : 0)), 0, queued);
      return { ...state, queue, closed: false };
    }
    case 'message_start': {
      const queued = state.queue.find((entry) => entry.runId === event.runId);
      const message: Message = { id: event.messageId, role: 'assistant', content: [], createdAt: event.ts };
      return {
        ...state,
        messages: queued ? [...state.messages, ...(queued.preceding ?? []), queued.message] : state.messages,
        queue: state.queue.filter((entry) => entry !== queued),
        run: { runId: event.runId!, app: event.app, message },
      };
    }
    case 'tool_use': {
      const { callId, name, input } = event;
      return push(state, event.runId, { type: 'tool_use', callId, name, input });
    }
    case 'tool_result': {
      const { callId, name, output, isError } = event;
      const next = push(state, event.runId, { type: 'tool_result', callId, name, output, isError });
      return next.run?.progress?.[callId]
        ? { ...next, run: { ...next.run, progress: without(next.run.progress, callId) } }
        : next;
    }
    case 'data':
      return putData(state, event.runId, {
        type: 'data',
        id: event.id,
        name: event.name,
        value: event.value,
      });
    case 'tool_confirmation_required': {
      const { callId, name, input, message, runId } = event;
      const question = { callId, runId: runId!, kind: 'confirmation', name, input } as const;
      return {
        ...state,
        pending: [...state.pending, message === undefined ? question : { ...question, message }],
      };
    }
    case 'input_required': {
      const { callId, name, payload, schema, runId } = event;
      const question = { callId, runId: runId!, kind: 'input', name, input: payload } as const;
      return {
        ...state,
        pending: [...state.pending, schema === undefined ? question : { ...question, schema }],
      };
    }
    case 'tool_confirmation_result':
    case 'input_result':
      return { ...state, pending: state.pending.filter((question) => question.callId !== event.callId) };
    case 'tool_progress': {
      if (state.run?.runId !== event.runId || !state.run) return state;
      const { callId, value, total, message } = event;
      const progress = {
        value,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      };
      return { ...state, run: { ...state.run, progress: { ...state.run.progress, [callId]: progress } } };
    }
    case 'steer': {
      if (!event.consumed) return state;
      const queued = state.queue.find((entry) => entry.message.id === event.messageId);
      return queued
        ? {
            ...state,
            messages: [...state.messages, ...(queued.preceding ?? []), queued.message],
            queue: state.queue.filter((entry) => entry !== queued),
          }
        : state;
    }
    case 'run_error': {
      const { code, message } = event;
      return state.run?.runId === event.runId && state.run
        ? { ...state, run: { ...state.run, error: { code, message } } }
        : state;
    }
    case 'message_end':
      return endRun(state, event.runId, event.message);
    case 'session_closed':
      return { ...state, run: null, queue: [], pending: [], closed: true };
    case 'snapshot':
      return event.state;
    default:
      return state;
  }
}

/** An answer without content is left out of `messages`; a message whose run never started is withdrawn. */
function endRun(state: SessionState, runId: string | undefined, message: Message): SessionState {
  const started = state.run?.runId === runId;
  return {
    ...state,
    run: started ? null : state.run,
    messages: started && message.content.length > 0 ? [...state.messages, message] : state.messages,
    queue: state.queue.some((entry) => entry.runId === runId)
      ? state.queue.filter((entry) => entry.runId !== runId)
      : state.queue,
    pending: state.pending.some((question) => question.runId === runId)
      ? state.pending.filter((question) => question.runId !== runId)
      : state.pending,
  };
}

function withContent(state: SessionState, run: ActiveRun, content: readonly ContentBlock[]): SessionState {
  return { ...state, run: { ...run, message: { ...run.message, content } } };
}

function grow(
  state: SessionState,
  runId: string | undefined,
  index: number,
  type: 'text' | 'reasoning',
  delta: string,
): SessionState {
  const { run } = state;
  if (!run || run.runId !== runId) return state;
  const content = [...run.message.content];
  const block = content[index];
  content[index] = { type, text: block?.type === type ? block.text + delta : delta };
  return withContent(state, run, content);
}

function push(state: SessionState, runId: string | undefined, block: ContentBlock): SessionState {
  const { run } = state;
  return run && run.runId === runId ? withContent(state, run, [...run.message.content, block]) : state;
}

function putData(
  state: SessionState,
  runId: string | undefined,
  block: ContentBlock & { type: 'data' },
): SessionState {
  const { run } = state;
  if (!run || run.runId !== runId) return state;
  const at = run.message.content.findIndex((old) => old.type === 'data' && old.id === block.id);
  if (at < 0) return push(state, runId, block);
  return withContent(state, run, run.message.content.with(at, block));
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  const { [key]: _removed, ...rest } = record;
  return rest;
}
