import type { ApprovalPolicy, Vote } from './approvals.js';
import { compactionOf } from './compaction/contract.js';
import type { Control, RequestedHandOff } from './control.js';
import type { HeldRun } from './deploys/contract.js';
import type { EventOf, GatewayEvent, OnBusy } from './events.js';
import {
  addUsage,
  type ChildAnswer,
  type ContentBlock,
  type LanePlace,
  type Message,
  type Outcome,
  type ToolUseBlock,
  type Usage,
  withoutPlace,
} from './messages.js';
import { pick } from './pick.js';
import { withReaction } from './reactions/contract.js';
import type { Variants } from './variants/contract.js';

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
  /** Absent if a tool was called outside of a run. */
  readonly runId?: string;
  readonly kind: 'confirmation' | 'input';
  readonly name: string;
  /** The tool's input, or the question's payload. */
  readonly input?: unknown;
  readonly schema?: unknown;
  readonly message?: string;
  /** The policy of a confirmation; absent if anybody's one answer decides. */
  readonly policy?: ApprovalPolicy;
  /** Its votes so far. */
  readonly votes?: readonly Vote[];
  /** Users with a role of `policy.escalateRoles` may vote too. */
  readonly escalated?: true;
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
  /** The version of the app, if it has one. */
  readonly version?: string;
  /** Set while no version of the app that runs can go on with the run; null once one has gone on with it. */
  readonly held?: HeldRun | null;
  readonly message: Message;
  /** All that the run itself has used so far. */
  readonly usage?: Usage;
  readonly error?: { readonly code: string; readonly message: string };
  readonly progress?: Readonly<Record<string, ToolProgress>>;
}

/** A run beside the conversation. It stays in the state until the run that began its tree has ended. */
export interface LaneRun
  extends ActiveRun,
    LanePlace,
    Pick<Partial<Outcome>, 'stopReason' | 'totalUsage' | 'endedAt'> {}

/** A session, folded from its events. Plain JSON: it can be stored, sent and rendered on a server. Its messages are a tree, of which it shows the path to `tip`. */
export interface SessionState {
  /** Everything up to here is in this state; null before the first event. */
  readonly cursor: string | null;
  /** The end of the path to `tip`, oldest first: each is the `parentId` of the next. */
  readonly messages: readonly Message[];
  /** Whether older messages exist than `messages` holds: the first has a parent. Read them with `history`. */
  readonly hasMore: boolean;
  /** How many messages the path to `tip` has. */
  readonly messageCount: number;
  /** Id of the last message of the path, which the next one follows; null before the first. */
  readonly tip: string | null;
  /** Ids of the messages that already follow the tip, the oldest first: paths that can be taken from here. Absent if there are none. */
  readonly replies?: readonly string[];
  readonly run: ActiveRun | null;
  /** Child runs and other runs beside the conversation, in the order of their beginnings; absent if there are none. */
  readonly lanes?: readonly LaneRun[];
  readonly pending: readonly PendingQuestion[];
  readonly queue: readonly QueuedMessage[];
  readonly closed: boolean;
  readonly title?: string;
  /** Metadata that the host or the user keeps with the session. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The variants that its app has chosen for it, by name; absent if there are none. */
  readonly variants?: Variants;
  /** Absent if it is not archived. */
  readonly archived?: boolean;
  /** The person who answers in place of the app; absent if the app answers. */
  readonly control?: Control;
  /** The app asks for a person, and nobody has taken over yet. */
  readonly handOff?: RequestedHandOff;
}

/** The state before any event. */
export const initialState: SessionState = Object.freeze({
  cursor: null,
  messages: [],
  hasMore: false,
  messageCount: 0,
  tip: null,
  run: null,
  pending: [],
  queue: [],
  closed: false,
});

/**
 * Folds one event into the state. Pure: the given state is never changed. Unknown types change only the cursor. Feed it each event once, in order;
 * the SDK and the gateway do.
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
      const { messageId, ts } = event;
      const next = take(state, event);
      const message: Message = { id: messageId, role: 'assistant', content: [], createdAt: ts };
      return {
        ...next,
        run: {
          message: placed(next, message),
          ...(pick(event, 'runId', 'app', 'version') as Omit<ActiveRun, 'message'>),
        },
      };
    }
    case 'steer':
      return event.consumed ? inLane(take(state, event), event, taken) : state;
    case 'run_spawned': {
      const { messageId: id, ts: createdAt, message: asked } = event;
      const place = pick(event, 'lane', 'name', 'parentRunId', 'callId', 'detached', 'wakes', 'keep');
      const message: Message = { id, role: 'assistant', content: [], createdAt };
      const run = { ...pick(event, 'runId', 'app', 'version'), ...place, asked, message } as LaneRun;
      return { ...state, lanes: [...(state.lanes ?? []), run], closed: false };
    }
    case 'run_steered':
      return inLane(state, event, ({ steering = [] }) => ({ steering: [...steering, event.message] }));
    case 'tool_use':
      return write(state, event, (content) =>
        content.push(pick(event, 'type', 'callId', 'name', 'input', 'providerExecuted', 'runsOn')),
      );
    case 'tool_result': {
      const next = write(state, event, (content) =>
        content.push(pick(event, 'type', 'callId', 'name', 'output', 'isError')),
      );
      return inRun(
        next,
        event,
        ({ progress }) => progress && { progress: put(progress, { [event.callId]: null }) },
      );
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
    case 'run_held':
    case 'run_taken_up': {
      const held = pick(event as HeldRun, 'version', 'by');
      return inRun(state, event, () => ({
        ...pick(held, 'version'),
        held: event.type === 'run_held' ? held : null,
      }));
    }
    case 'usage_added':
      return inRun(state, event, ({ usage }) => ({ usage: addUsage(usage, event.usage) }));
    case 'run_error':
      return inRun(state, event, () => ({ error: pick(event, 'code', 'message') }));
    case 'tool_confirmation_required':
      return ask(state, {
        kind: 'confirmation',
        ...pick(event, 'callId', 'runId', 'name', 'input', 'message', 'policy'),
      });
    case 'tool_confirmation_vote':
    case 'tool_confirmation_escalated':
      return {
        ...state,
        pending: state.pending.map((question) =>
          question.callId === event.callId ? voted(question, event) : question,
        ),
      };
    case 'input_required':
      return ask(state, {
        kind: 'input',
        ...pick(event, 'callId', 'runId', 'name', 'schema'),
        input: event.payload,
      });
    case 'tool_confirmation_result':
    case 'input_result': {
      // A denied call is marked.
      const next =
        'approved' in event && !event.approved
          ? write(state, event, (content) => {
              const at = content.findIndex(
                (block) => block?.type === 'tool_use' && block.callId === event.callId,
              );
              if (at >= 0) content[at] = { ...content[at], denied: true } as ToolUseBlock;
            })
          : state;
      return { ...next, pending: next.pending.filter((question) => question.callId !== event.callId) };
    }
    case 'message_end':
      return endRun(state, event);
    case 'message_replaced':
      return replace(state, event);
    case 'reaction':
      return inMessage(state, event, ({ reactions = [] }) => ({
        reactions: withReaction(reactions, event),
      }));
    case 'compacted':
      // A conversation that goes on from before the message has no part in it.
      return inMessage(state, event, () => ({ compaction: compactionOf(event) }));
    case 'history_moved':
      return move(state, event);
    case 'control_moved': {
      const { to: by, ts: since } = event;
      const control = by !== null && { by, since, ...pick(event, 'until', 'reason', 'grantId') };
      return put(state, { control, handOff: false });
    }
    case 'hand_off_requested':
      return put(state, { handOff: pick(event, 'ts', 'runId', 'reason', 'roles') });
    case 'session_updated':
      return put(state, pick(event, 'title', 'metadata', 'archived'));
    case 'variant':
      return { ...state, variants: { ...state.variants, [event.name]: event.choice } };
    case 'session_closed':
      // A deleted session shows nothing more.
      if (event.reason === 'deleted') return { ...initialState, cursor: state.cursor, closed: true };
      return put({ ...state, run: null, queue: [], pending: [], closed: true }, { lanes: null });
    case 'snapshot':
      return event.state;
    default:
      return state;
  }
}

/**
 * An empty answer is left out of `messages` if it ended well or a person continues in its place. A message whose run never started is withdrawn,
 * unless a person has taken over.
 */
function endRun(given: SessionState, event: EventOf<'message_end'>): SessionState {
  const { runId, stopReason, message } = event;
  const state = stopReason === 'taken_over' ? take(given, event) : given;
  const run = state.run?.runId === runId ? state.run : null;
  // The same lists if nothing changes: views compare them by reference.
  const others = <T extends FoldedRun>(list: readonly T[]) =>
    list.some((entry) => entry.runId === runId) ? list.filter((entry) => entry.runId !== runId) : list;
  const next = { ...state, queue: others(state.queue), pending: others(state.pending) };
  const lane = state.lanes?.find((each) => each.runId === runId);
  if (lane) return endLane(next, lane, event);
  if (!run) return next;
  const [answer, rest] = ended(next, run, event);
  // An empty answer is not needed if a person continues in its place (`taken_over`, `handed_off`).
  const isKept = answer.retracted || answer.children || message.content[0] || !/^end|_o/.test(stopReason);
  return { ...(isKept ? follow(rest, answer) : rest), run: null };
}

/** An answer with its run's outcome and children, and the state without those children. */
function ended(
  state: SessionState,
  run: ActiveRun,
  event: EventOf<'message_end'>,
): readonly [Message, SessionState] {
  const { runId } = run;
  const above = new Set([runId]);
  const children: ChildAnswer[] = [];
  const lanes: LaneRun[] = [];
  for (const lane of state.lanes ?? []) {
    const { parentRunId, stopReason } = lane;
    if (parentRunId && above.has(parentRunId) && stopReason) {
      above.add(lane.runId);
      children.push(lane as ChildAnswer);
    } else lanes.push(lane);
  }
  const answer: Message = {
    ...{
      runId,
      ...event.message,
      ...pick(run, 'app', 'error'),
      ...pick(event, 'stopReason', 'usage', 'totalUsage'),
    },
    endedAt: event.ts,
    ...pick(state, 'variants'),
    ...(children.length > 0 && { children }),
  };
  return [answer, children.length > 0 ? put(state, { lanes: lanes.length > 0 && lanes }) : state];
}

/** The answer of a run beside the conversation stays with its parent, or joins the conversation. */
function endLane(state: SessionState, lane: LaneRun, event: EventOf<'message_end'>): SessionState {
  const { parentRunId, asked, keep, progress: _, held: __, ...run } = lane;
  const lanes = state.lanes!;
  if (parentRunId && (state.run?.runId === parentRunId || lanes.some((each) => each.runId === parentRunId))) {
    const over = {
      ...run,
      parentRunId,
      asked,
      ...pick(event, 'message', 'stopReason', 'usage', 'totalUsage'),
      endedAt: event.ts,
    };
    return { ...state, lanes: lanes.map((each) => (each === lane ? over : each)) };
  }
  const left = lanes.filter((each) => each !== lane);
  const [answer, rest] = ended({ ...state, lanes: left }, lane, event);
  const next = put(rest, { lanes: rest.lanes && rest.lanes.length > 0 && rest.lanes });
  return parentRunId || keep === false ? next : insert(next, asked, answer);
}

/** A run beside the conversation has taken a message. */
const taken = ({ steering = [] }: LaneRun, { messageId }: EventOf<'steer'>): Partial<LaneRun> => ({
  steering: steering.map((message) => (message.id === messageId ? { ...message, taken: true } : message)),
});

/** A queued message becomes part of the conversation. */
function take(state: SessionState, { runId }: FoldedRun): SessionState {
  const queued = state.queue.find((entry) => entry.runId === runId);
  if (!queued) return state;
  const queue = state.queue.filter((entry) => entry !== queued);
  return { ...insert(state, ...(queued.preceding ?? []), queued.message), queue };
}

/** Puts messages after the last one, and before the answer that is being written. */
function insert(state: SessionState, ...added: readonly Message[]): SessionState {
  const next = follow(state, ...added);
  const { run } = next;
  return { ...next, run: run && { ...run, message: placed(next, run.message) } };
}

/** Puts messages after the last one. Only this function sets a message's parent. A message that is answered again is already there. */
export function follow(state: SessionState, ...added: readonly Message[]): SessionState {
  let next = state;
  for (const message of added) {
    if (message.id === next.tip) continue;
    // A list that is spread and grows is copied twice.
    const messages = next.messages.concat([placed(next, message)]);
    const messageCount = next.messageCount + 1;
    next = put({ ...next, messages, messageCount, tip: message.id }, { replies: null });
  }
  return next;
}

/** Takes over fields that a state may lack, and drops falsy ones. */
function put<T extends object>(state: T, fields: { readonly [Name in keyof T]?: unknown }): T {
  const next = { ...state } as Record<string, unknown>;
  for (const name in fields) {
    const value = fields[name];
    if (value) next[name] = value;
    else if (name in next) delete next[name];
  }
  return next as T;
}

/** A message, placed after the last one. */
function placed({ tip, replies }: SessionState, message: Message): Message {
  const versions = replies && { versions: [...replies, message.id] };
  return { parentId: tip, ...withoutPlace(message), ...versions };
}

/** A message says something else, wherever it is. */
function replace(
  state: SessionState,
  { messageId, content, retracted }: EventOf<'message_replaced'>,
): SessionState {
  // The same objects where nothing changes: views compare them by reference.
  const list = <T>(all: readonly T[], each: (one: T, at: number) => T): readonly T[] => {
    const changed = all.map(each);
    return changed.some((one, at) => one !== all[at]) ? changed : all;
  };
  const inMessage = <M extends Message>(message: M): M => {
    if (message.id === messageId) {
      const gone = retracted && { retracted, children: 0, metadata: 0, compaction: 0 };
      return put(message, { content, ...gone } as object);
    }
    const { children } = message;
    const inside = children && list(children, inRun);
    return inside === children ? message : { ...message, children: inside };
  };
  const inRun = <R extends FoldedAnswer>(run: R): R => {
    let next = run;
    for (const name of ['message', 'asked', 'steering', 'preceding'] as const) {
      const had = run[name] as Message;
      const has = had && (Array.isArray(had) ? list(had, inMessage) : inMessage(had));
      if (has !== had) next = { ...next, [name]: has };
    }
    return next;
  };
  const { messages, run, lanes, queue } = state;
  const place = messages.findIndex(({ id }) => id === messageId);
  return {
    ...state,
    // Summaries of what is behind it cover it, and every reader that lacks it is behind it.
    messages: list(messages, (message, at) =>
      retracted && at > place && message.compaction
        ? put(inMessage(message), { compaction: 0 })
        : inMessage(message),
    ),
    queue: list(queue, inRun),
    run: run && inRun(run),
    ...(lanes && { lanes: list(lanes, inRun) }),
  };
}

/** A run with its answer, or with its message if it waits, and the other messages that it has. */
interface FoldedAnswer {
  readonly message: Message;
  readonly asked?: Message | undefined;
  readonly steering?: readonly Message[] | undefined;
  readonly preceding?: readonly Message[] | undefined;
}

/** Shows the path to another message, as far back as this state knows it. */
function move(
  state: SessionState,
  { tip, messageCount, messages = [], replies }: EventOf<'history_moved'>,
): SessionState {
  const before = ([first]: readonly Message[]) => (first ? first.parentId : tip);
  const behind = before(messages);
  const kept = state.messages.slice(0, state.messages.findIndex(({ id }) => id === behind) + 1);
  const path = [...kept, ...messages];
  return put({ ...state, messages: path, hasMore: before(path) != null, messageCount, tip }, { replies });
}

function voted(
  question: PendingQuestion,
  event: EventOf<'tool_confirmation_vote'> | EventOf<'tool_confirmation_escalated'>,
): PendingQuestion {
  if ('roles' in event) return { ...question, escalated: true };
  return {
    ...question,
    votes: [...(question.votes ?? []), pick(event, 'by', 'approved', 'reason', 'givenBy')],
  };
}

function ask(state: SessionState, question: PendingQuestion): SessionState {
  return { ...state, pending: [...state.pending, question] };
}

interface FoldedRun {
  readonly runId?: string;
}

/** Changes the active run or the run beside it to which the event belongs. */
function inRun(
  state: SessionState,
  event: FoldedRun,
  change: (run: ActiveRun) => Partial<ActiveRun> | undefined,
): SessionState {
  const { run } = state;
  if (run && run.runId === event.runId) return { ...state, run: { ...run, ...change(run) } };
  return inLane(state, event, change);
}

/** Changes the run beside the conversation to which the event belongs. */
function inLane<Event extends FoldedRun>(
  state: SessionState,
  event: Event,
  change: (run: LaneRun, event: Event) => Partial<LaneRun> | undefined,
): SessionState {
  const { lanes } = state;
  if (!lanes?.some(({ runId }) => runId === event.runId)) return state;
  const changed = lanes.map((run) => (run.runId === event.runId ? { ...run, ...change(run, event) } : run));
  return { ...state, lanes: changed };
}

/** Changes the message of the path that an event names. */
function inMessage(
  state: SessionState,
  { messageId }: { readonly messageId: string },
  change: (message: Message) => Partial<Message>,
): SessionState {
  const changed = (message: Message) =>
    message.id === messageId ? { ...message, ...change(message) } : message;
  return { ...state, messages: state.messages.map(changed) };
}

/** Changes the answer of the run to which the event belongs. */
function write(
  state: SessionState,
  event: FoldedRun,
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
  event: FoldedRun & { readonly index: number; readonly delta: string },
  type: 'text' | 'reasoning',
): SessionState {
  return write(state, event, (content) => {
    const block = content[event.index];
    content[event.index] = { type, text: (block?.type === type ? block.text : '') + event.delta };
  });
}
