import type { EventOf, GatewayEvent, OnBusy } from './events.js';
import type { ContentBlock, Message, Outcome, Usage } from './messages.js';
import { pick } from './pick.js';

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
  /** Absent where a tool was called outside of a run. */
  readonly runId?: string;
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

/** A session, folded from its events. Plain JSON: it can be stored, sent and rendered on a server. Its messages are a tree, of which it shows the path to `tip`. */
export interface SessionState {
  /** Everything up to here is in this state; null before the first event. */
  readonly cursor: string | null;
  /** The end of the path to `tip`, oldest first: each is the `parentId` of the next. */
  readonly messages: readonly Message[];
  /** Whether older messages exist than `messages` holds: the first has a parent. Read them with `history`. */
  readonly hasMore: boolean;
  /** Id of the last message of the path, which the next one follows; null before the first. */
  readonly tip: string | null;
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
  tip: null,
  run: null,
  pending: [],
  queue: [],
  closed: false,
});

/**
 * Folds one event into the state. Pure: the given state is never changed, and types it does not know leave all but the cursor
 * as it was. Feed it each event once, in order; the SDK and the gateway do.
 *
 * @example
 * ```ts
 * let state = initialState;
 * for await (const event of client.events('main', { from: 'earliest' })) state = reduce(state, event);
 * ```
 */
export function reduce(state: SessionState, event: GatewayEvent): SessionState {
  const next = apply(state, event);
  const cursor = event.cursor;
  return cursor === undefined || cursor === next.cursor ? next : { ...next, cursor };
}

function apply(state: SessionState, event: GatewayEvent): SessionState {
  switch (event.type) {
    case 'content_delta':
      return grow(state, event, 'text');
    case 'reasoning_delta':
      return grow(state, event, 'reasoning');
    case 'message_accepted': {
      const queue = [...state.queue];
      const queued = pick(event, 'runId', 'message', 'onBusy', 'preceding') as QueuedMessage;
      queue.splice(Math.max(0, event.position - (state.run ? 1 : 0)), 0, queued);
      return { ...state, queue, closed: false };
    }
    case 'message_start': {
      const { messageId, app, ts, runId } = event;
      const next = take(state, (queued) => queued.runId === runId);
      const message: Message = {
        id: messageId,
        parentId: next.tip,
        role: 'assistant',
        content: [],
        createdAt: ts,
      };
      return { ...next, run: { runId: runId!, app, message } };
    }
    case 'steer':
      return event.consumed ? take(state, ({ message }) => message.id === event.messageId) : state;
    case 'tool_use':
      return write(state, event, (content) =>
        content.push(pick(event, 'type', 'callId', 'name', 'input', 'providerExecuted')),
      );
    case 'tool_result': {
      const next = write(state, event, (content) =>
        content.push(pick(event, 'type', 'callId', 'name', 'output', 'isError')),
      );
      return inRun(next, event, ({ progress }) => {
        const { [event.callId]: _ended, ...others } = progress ?? {};
        return progress ? { progress: others } : {};
      });
    }
    case 'data':
      return write(state, event, (content) => {
        const at = content.findIndex((block) => block?.type === 'data' && block.id === event.id);
        content[at < 0 ? content.length : at] = pick(event, 'type', 'id', 'name', 'value');
      });
    case 'tool_progress':
      return inRun(state, event, ({ progress }) => ({
        progress: { ...progress, [event.callId]: pick(event, 'value', 'total', 'message') },
      }));
    case 'run_error':
      return inRun(state, event, () => ({ error: pick(event, 'code', 'message') }));
    case 'tool_confirmation_required':
      return ask(state, {
        kind: 'confirmation',
        ...pick(event, 'callId', 'runId', 'name', 'input', 'message'),
      });
    case 'input_required':
      return ask(state, {
        kind: 'input',
        ...pick(event, 'callId', 'runId', 'name', 'schema'),
        input: event.payload,
      });
    case 'tool_confirmation_result':
    case 'input_result':
      return { ...state, pending: state.pending.filter((question) => question.callId !== event.callId) };
    case 'message_end':
      return endRun(state, event);
    case 'session_closed':
      return { ...state, run: null, queue: [], pending: [], closed: true };
    case 'snapshot':
      return event.state;
    default:
      return state;
  }
}

/** An answer that ended well and says nothing is left out of `messages`; a message whose run never started is withdrawn. */
function endRun(state: SessionState, event: EventOf<'message_end'>): SessionState {
  const { runId, stopReason, message } = event;
  const run = state.run?.runId === runId ? state.run : null;
  // The same lists where nothing changes: views compare them by reference.
  const others = <T extends OfRun>(list: readonly T[]) =>
    list.some((entry) => entry.runId === runId) ? list.filter((entry) => entry.runId !== runId) : list;
  const isKept = run && (message.content.length > 0 || stopReason !== 'end');
  return {
    ...(isKept ? follow(state, { ...message, ...outcomeOf(run, event) }) : state),
    run: run ? null : state.run,
    queue: others(state.queue),
    pending: others(state.pending),
  };
}

function outcomeOf({ runId, app, error }: ActiveRun, event: EventOf<'message_end'>): Outcome {
  return { runId, app, ...(error && { error }), ...pick(event, 'stopReason', 'usage'), endedAt: event.ts };
}

/** A queued message becomes part of the conversation. */
function take(state: SessionState, isIt: (queued: QueuedMessage) => boolean): SessionState {
  const { run, queue } = state;
  const queued = queue.find(isIt);
  if (!queued) return state;
  const next = follow(state, ...(queued.preceding ?? []), queued.message);
  return {
    ...next,
    // An answer follows what its run was steered with.
    run: run && { ...run, message: { ...run.message, parentId: next.tip } },
    queue: queue.filter((entry) => entry !== queued),
  };
}

/** Puts messages behind the last one. Nobody else says what a message follows. */
function follow(state: SessionState, ...added: readonly Message[]): SessionState {
  const messages = [...state.messages];
  let { tip } = state;
  for (const message of added) {
    messages.push({ ...message, parentId: tip });
    tip = message.id;
  }
  return { ...state, messages, tip };
}

function ask(state: SessionState, question: PendingQuestion): SessionState {
  return { ...state, pending: [...state.pending, question] };
}

interface OfRun {
  readonly runId?: string;
}

/** Changes the active run, if the event is of that. */
function inRun(
  state: SessionState,
  event: OfRun,
  change: (run: ActiveRun) => Partial<ActiveRun>,
): SessionState {
  const { run } = state;
  return run && run.runId === event.runId ? { ...state, run: { ...run, ...change(run) } } : state;
}

/** Changes the answer of the active run. */
function write(
  state: SessionState,
  event: OfRun,
  change: (content: ContentBlock[]) => unknown,
): SessionState {
  return inRun(state, event, ({ message }) => {
    const content = [...message.content];
    change(content);
    return { message: { ...message, content } };
  });
}

function grow(
  state: SessionState,
  event: OfRun & { readonly index: number; readonly delta: string },
  type: 'text' | 'reasoning',
): SessionState {
  return write(state, event, (content) => {
    const block = content[event.index];
    content[event.index] = { type, text: (block?.type === type ? block.text : '') + event.delta };
  });
}
