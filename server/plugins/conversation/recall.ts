import type { Message } from '../../../shared/messages.js';
import type { PluginSession } from '../plugin.js';
import { pagesOf, stateOf } from './state.js';

/** An answer and its question, from a history. */
export interface Recalled {
  readonly answer: Message;
  readonly question: Message | undefined;
}

/** Searches a session's history for an answer, from its end. An unfinished answer is found too. */
export async function recall(
  session: Pick<PluginSession, 'history'>,
  fits: (message: Message) => boolean,
): Promise<Recalled | null> {
  let answer: Message | undefined;
  for await (const { messages, cursor } of pagesOf(session)) {
    answer ??= messages.findLast((message) => message.role === 'assistant' && fits(message));
    const parentId = answer?.parentId;
    const question = answer && messages.find(({ id }) => id === parentId);
    if (answer && (question || parentId == null || cursor === null)) return { answer, question };
  }
  return answer ? { answer, question: undefined } : null;
}

/** A run's answer so far and its question, for a run whose events are no longer kept. */
export async function recallRun(session: PluginSession, runId: string): Promise<Recalled | null> {
  const { run, messages = [] } = (await stateOf(session)) ?? {};
  if (run?.runId !== runId) return recall(session, (message) => message.runId === runId);
  const { message: answer } = run;
  return { answer, question: messages.find(({ id }) => id === answer.parentId) };
}
