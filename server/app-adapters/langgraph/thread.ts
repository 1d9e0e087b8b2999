import type { Message } from '../../../shared/messages.js';
import type { Turn } from '../../apps/application.js';
import { tellOfCuts } from '../../chat-format/cut-answers.js';
import { closeOpenCalls, NO_RESULT, withoutReasoning } from '../../chat-format/rounds.js';
import { idOf } from '../../ids.js';
import { branchThread } from '../branch-thread.js';
import { withFiles } from '../inline-files.js';
import { type CompiledGraph, type GraphMessage, messagesIn, roleOf } from './graph.js';
import { toLangGraphMessages, toToolMessage } from './messages.js';

/** The starting point of a graph's run. */
export interface GraphThread<Config = unknown> {
  readonly config: Config;
  /** Messages that the graph has not seen. */
  readonly messages: readonly GraphMessage[];
  /** Ids of the messages that the graph has or receives. */
  readonly known: readonly string[];
  /** Whether a restart interrupted the graph in this run, so that it has its input already. */
  readonly goesOn: boolean;
}

/** The graph whose threads are used, and the host's function that names them. */
interface GraphThreads {
  readonly graph: CompiledGraph;
  readonly threadId?: (turn: Turn) => string;
}

/** Determines the messages for a graph: all of them, unless it has a thread that remembers. */
export async function openThread<Config>(
  { graph, threadId }: GraphThreads,
  configOf: (threadId: string) => Config,
  turn: Turn,
): Promise<GraphThread<Config>> {
  const ids = (remembered: readonly GraphMessage[]) => new Set(remembered.flatMap(({ id }) => id ?? []));
  const recall = async (id: string) => {
    const config = configOf(id);
    const remembered = graph.checkpointer ? messagesIn((await graph.getState?.(config))?.values) : [];
    return { config, remembered, ids: ids(remembered) };
  };
  let thread = await recall(threadId?.(turn) ?? branchThread(turn));
  if (!threadId && thread.ids.has(turn.message.id)) {
    // The thread has an answer to this message already, so another answer needs a thread of its own. A resumed run may have begun that one.
    const again = await recall(idOf(turn.session.id, turn.session.epoch, turn.runId));
    if (turn.resumed === null || again.ids.has(turn.message.id)) thread = again;
  }
  const messages = await toBeTold(turn, thread);
  const known = [...thread.ids, ...messages.flatMap(({ id }) => id ?? [])];
  const goesOn = turn.resumed !== null && thread.ids.has(turn.message.id);
  return { config: thread.config, messages, known, goesOn };
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

/** The messages behind the last one that the thread has. */
function unseen({ history, message }: Turn, ids: ReadonlySet<string>): Message[] {
  const last = history.findLastIndex(({ id }) => ids.has(id));
  // A graph that has summarized the conversation has none of the sent messages left.
  return [...(last < 0 ? [] : history.slice(last + 1)), message];
}

/** Answers are left out, because the thread has its own, though it does not know which were truncated. */
function sentIn(messages: readonly Message[]): Message[] {
  return tellOfCuts(messages).filter(
    ({ role }, at) => role === 'user' || role === 'system' || at === messages.length - 1,
  );
}

/** Results for the calls that an abort left open in a thread. Models refuse a conversation in which one is missing. */
function closing(remembered: readonly GraphMessage[]): GraphMessage[] {
  const last = remembered.findLast((message) => roleOf(message) === 'assistant');
  const answered = new Set(remembered.map(({ tool_call_id: id }) => id));
  return (last?.tool_calls ?? [])
    .filter(({ id }) => !answered.has(id))
    .map(({ id = '', name }) => toToolMessage({ callId: id, name, output: NO_RESULT, isError: true }));
}
