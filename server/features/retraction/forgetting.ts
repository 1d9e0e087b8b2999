import { type ActiveRun, reduce, type SessionState } from '../../../shared/fold.js';
import type { ContentBlock, LanePlace, Message, Retraction } from '../../../shared/messages.js';
import type { Checkpoint, StoredEvent } from '../../stores/stored.js';

type Data = Record<string, any>;

/** A message as it is once it was taken back. */
export function takenBack<M extends Message>(message: M, retracted: Retraction): M {
  const { children: _, metadata: __, compaction: ___, ...others } = message;
  return { ...others, content: [], retracted } as unknown as M;
}

/** Contents without what they say. The number of blocks stays, since later pieces count them. */
function blank(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'reasoning':
      return { type: 'reasoning', text: '' };
    case 'tool_use':
      return { ...block, input: {} };
    case 'tool_result':
      return { ...block, output: null };
    case 'data':
      return { ...block, value: null };
    default:
      return { type: 'text', text: '' };
  }
}

const without = ({ ...data }: Data, ...names: readonly string[]): Data => {
  for (const name of names) delete data[name];
  return data;
};

/** Changes of the events of a run, by their types. The fold makes the same of them but for what was said. */
const OF_RUN: Readonly<Record<string, (data: Data) => Data>> = {
  content_delta: (data) => ({ ...data, delta: '' }),
  reasoning_delta: (data) => ({ ...data, delta: '' }),
  tool_use: (data) => ({ ...data, input: {} }),
  tool_result: (data) => ({ ...data, output: null }),
  tool_progress: (data) => without(data, 'message'),
  data: (data) => ({ ...data, value: null }),
  tool_confirmation_required: (data) => without({ ...data, input: {} }, 'message'),
  tool_confirmation_vote: (data) => without(data, 'reason'),
  tool_confirmation_result: ({ votes, ...data }) => ({
    ...without(data, 'reason', 'input'),
    ...(votes && { votes: votes.map((vote: Data) => without(vote, 'reason')) }),
  }),
  input_required: (data) => without(data, 'payload'),
  input_result: (data) => ({ ...data, output: null }),
  custom: (data) => ({ ...data, payload: null }),
  channel: (data) => ({ ...data, event: { ...data.event, payload: null } }),
};

/** A message that was taken back, for what was logged of it. */
export interface Forgotten {
  readonly messageId: string;
  readonly retracted: Retraction;
  /** The run that wrote it, and those of the children that it has. More are added as their beginnings are read. */
  readonly runs: Set<string>;
  /** Children that outlive it. */
  readonly spared: ReadonlySet<string>;
  /** Whether the summary of a message goes with it. */
  covers(messageId: string): boolean;
}

/** An event's body without what was taken back; null if it has nothing of it. Read the events in their order. */
export function forgetIn({ type, runId, body }: StoredEvent, forgotten: Forgotten): string | null {
  const { messageId, retracted, runs, spared, covers } = forgotten;
  const isOfRun = runId !== undefined && runs.has(runId);
  const names = body.includes(JSON.stringify(messageId));
  if (!isOfRun && !names && type !== 'compacted' && type !== 'run_spawned') return null;
  const data = JSON.parse(body) as Data;
  if (type === 'message_start' && data.messageId === messageId) runs.add(runId!);
  const isChild = type === 'run_spawned' && runs.has(data.parentRunId) && !spared.has(runId!);
  if (isChild || (type === 'run_spawned' && data.messageId === messageId)) runs.add(runId!);
  // The question that a run answers is not its own.
  const isOwn = isChild || (isOfRun && type !== 'message_accepted' && type !== 'run_spawned');
  const clean = (message: Message, all = false): Message => {
    if (all || message.id === messageId) return takenBack(message, retracted);
    const { children } = message;
    if (!children || !names) return message;
    const inside = children.map((child) => ({
      ...child,
      message: clean(child.message),
      asked: clean(child.asked),
    }));
    return { ...message, children: inside };
  };
  let next = (isOwn && OF_RUN[type]?.(data)) || data;
  if (next.message?.id !== undefined) {
    if (next.message.id === messageId && !isOfRun) next = without(next, 'metadata');
    next = { ...next, message: clean(next.message, isOwn) };
  }
  for (const list of ['preceding', 'messages'] as const)
    if (Array.isArray(next[list])) next = { ...next, [list]: next[list].map((one: Message) => clean(one)) };
  if (type === 'message_replaced' && (next.messageId === messageId || isOwn))
    next = { ...next, content: next.content.map(blank) };
  if (type === 'compacted' && covers(next.messageId)) next = { ...next, summary: '' };
  const text = JSON.stringify(next);
  return text === body ? null : text;
}

/** A checkpoint without what was taken back; null if it has nothing of it. */
export function forgetAt({ seq, state }: Checkpoint, forgotten: Forgotten): Checkpoint | null {
  const { messageId, retracted, runs } = forgotten;
  const clean = (message: Message): Message => takenBack(message, retracted);
  const mine = <R extends ActiveRun & Partial<LanePlace>>(run: R): R => {
    if (!runs.has(run.runId)) return run;
    const { asked, steering, parentRunId } = run;
    // Pieces that follow count the blocks.
    const message = { ...clean(run.message), content: run.message.content.map(blank) };
    const told = parentRunId && { asked: asked && clean(asked), steering: steering?.map(clean) };
    return JSON.parse(JSON.stringify(without({ ...run, ...told, message }, 'progress')));
  };
  const { run, lanes, pending, queue } = state;
  const own: SessionState = {
    ...state,
    run: run && mine(run),
    ...(lanes && { lanes: lanes.map(mine) }),
    pending: pending.map((question) =>
      runs.has(question.runId!) ? without({ ...question, input: {} }, 'message') : question,
    ) as SessionState['pending'],
  };
  const isAsked = JSON.stringify([queue, lanes ?? []]).includes(JSON.stringify(messageId));
  const content = run?.message.id === messageId ? own.run!.message.content : [];
  const event = { type: 'message_replaced', ts: retracted.at, messageId, content, retracted } as const;
  const next = isAsked || run?.message.id === messageId ? reduce(own, event as never) : own;
  return JSON.stringify(next) === JSON.stringify(state) ? null : { seq, state: next };
}
