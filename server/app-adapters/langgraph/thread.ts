import type { Message } from '../../../shared/messages.js';
import type { Turn } from '../../apps/application.js';
import { tellOfCuts } from '../../chat-format/cut-answers.js';
import { closeOpenCalls, NO_RESULT, withoutReasoning } from '../../chat-format/rounds.js';
import { withFiles } from '../inline-files.js';
import { type CompiledGraph, type GraphMessage, messagesIn, roleOf } from './graph.js';
import { toLangGraphMessages, toToolMessage } from './messages.js';

/** Where a run of a graph begins. */
export interface Thread<Config = unknown> {
  readonly config: Config;
  /** What the graph has not seen. */
  readonly messages: readonly GraphMessage[];
  /** Ids of the messages that the graph has or is given. */
  readonly known: readonly string[];
  /** The graph was interrupted in this very run by a restart: it has its input. */
  readonly goesOn: boolean;
}

/** Whose threads these are: the graph's, and the host's where that names them. */
interface Threads {
  readonly graph: CompiledGraph;
  readonly threadId?: (turn: Turn) => string;
}

/** Finds out what a graph has to be told: everything, unless it has a thread that remembers. */
export async function openThread<Config>(
  { graph, threadId }: Threads,
  configOf: (threadId: string) => Config,
  turn: Turn,
): Promise<Thread<Config>> {
  const ids = (remembered: readonly GraphMessage[]) => new Set(remembered.flatMap(({ id }) => id ?? []));
  const recall = async (id: string) => {
    const config = configOf(id);
    const remembered = graph.checkpointer ? messagesIn((await graph.getState?.(config))?.values) : [];
    return { config, remembered, ids: ids(remembered) };
  };
  const conversation = `${turn.session.id}@${turn.session.epoch}`;
  let thread = await recall(threadId?.(turn) ?? branch(conversation, [...turn.history, turn.message]));
  if (!threadId && thread.ids.has(turn.message.id)) {
    // It knows of an answer that there is to be another of; a run that is taken up may have been that other one.
    const again = await recall(`${conversation}/${turn.runId}`);
    if (turn.resumed === null || again.ids.has(turn.message.id)) thread = again;
  }
  const messages = await toBeTold(turn, thread);
  const known = [...thread.ids, ...messages.flatMap(({ id }) => id ?? [])];
  const goesOn = turn.resumed !== null && thread.ids.has(turn.message.id);
  return { config: thread.config, messages, known, goesOn };
}

/**
 * The thread of a branch of a conversation. It remembers what was said on it, so whatever went on from elsewhere has one of its own: from
 * the last message, or the run of the last answer, that was put beside another one.
 */
function branch(conversation: string, path: readonly Message[]): string {
  const last = path.findLast(({ id, versions = [id] }) => versions[0] !== id);
  return last ? `${conversation}/${last.runId ?? last.id}` : conversation;
}

async function toBeTold(
  turn: Turn,
  { remembered, ids }: { readonly remembered: readonly GraphMessage[]; readonly ids: ReadonlySet<string> },
): Promise<GraphMessage[]> {
  if (remembered.length > 0)
    return [...closing(remembered), ...toLangGraphMessages(sentIn(await withFiles(turn, unseen(turn, ids))))];
  const all = await withFiles(turn, [...turn.history, turn.message]);
  return toLangGraphMessages(closeOpenCalls(all.map(withoutReasoning)));
}

/** What followed the last message that the thread has. */
function unseen({ history, message }: Turn, ids: ReadonlySet<string>): Message[] {
  const last = history.findLastIndex(({ id }) => ids.has(id));
  // Nothing is left of what was sent where the graph has summed it up.
  return [...(last < 0 ? [] : history.slice(last + 1)), message];
}

/** Answers are left out: the thread has its own record of them, but not that one was cut off. */
function sentIn(messages: readonly Message[]): Message[] {
  return tellOfCuts(messages).filter(
    ({ role }, at) => role === 'user' || role === 'system' || at === messages.length - 1,
  );
}

/** Results for the calls that an abort left open in a thread: models refuse a conversation in which one is missing. */
function closing(remembered: readonly GraphMessage[]): GraphMessage[] {
  const last = remembered.findLast((message) => roleOf(message) === 'assistant');
  const answered = new Set(remembered.map(({ tool_call_id: id }) => id));
  return (last?.tool_calls ?? [])
    .filter(({ id }) => !answered.has(id))
    .map(({ id = '', name }) => toToolMessage({ callId: id, name, output: NO_RESULT, isError: true }));
}
