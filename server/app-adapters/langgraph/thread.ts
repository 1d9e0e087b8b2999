import type { Message } from '../../../shared/messages.js';
import type { Turn } from '../../apps/application.js';
import { closeOpenCalls, NO_RESULT, withoutReasoning } from '../../chat-format/rounds.js';
import { withFiles } from '../inline-files.js';
import { type CompiledGraph, type GraphMessage, messagesIn, roleOf } from './graph.js';
import { toLangGraphMessages, toToolMessage } from './messages.js';

/** Where a run of a graph begins. */
export interface Thread {
  /** What the graph has not seen. */
  readonly messages: readonly GraphMessage[];
  /** Ids of the messages that the graph has or is given. */
  readonly known: readonly string[];
  /** The graph was interrupted in this very run by a restart: it has its input. */
  readonly goesOn: boolean;
}

/** Finds out what a graph has to be told: everything, unless it has a thread that remembers. */
export async function openThread(graph: CompiledGraph, config: unknown, turn: Turn): Promise<Thread> {
  const remembered = config === null ? [] : messagesIn((await graph.getState?.(config))?.values);
  const ids = new Set(remembered.flatMap(({ id }) => id ?? []));
  const all = [...turn.history, turn.message];
  const messages =
    remembered.length === 0
      ? toLangGraphMessages(closeOpenCalls((await withFiles(turn, all)).map(withoutReasoning)))
      : [...closing(remembered), ...toLangGraphMessages(await withFiles(turn, unseen(turn, ids)))];
  const given = messages.flatMap(({ id }) => id ?? []);
  return { messages, known: [...ids, ...given], goesOn: turn.resumed !== null && ids.has(turn.message.id) };
}

/** What was sent since the last message that the thread has. Answers are left out: it has its own record of them. */
function unseen({ history, message }: Turn, ids: ReadonlySet<string>): Message[] {
  const last = history.findLastIndex(({ id }) => ids.has(id));
  // Nothing is left of what was sent where the graph has summed it up.
  const since = last < 0 ? [] : history.slice(last + 1);
  return [...since.filter(({ role }) => role === 'user' || role === 'system'), message];
}

/** Results for the calls that an abort left open in a thread: models refuse a conversation in which one is missing. */
function closing(remembered: readonly GraphMessage[]): GraphMessage[] {
  const last = remembered.findLast((message) => roleOf(message) === 'assistant');
  const answered = new Set(remembered.map(({ tool_call_id: id }) => id));
  return (last?.tool_calls ?? [])
    .filter(({ id }) => !answered.has(id))
    .map(({ id = '', name }) => toToolMessage({ callId: id, name, output: NO_RESULT, isError: true }));
}
