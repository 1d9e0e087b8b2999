import type { Message } from '../../../shared/messages.js';
import { failureOf } from '../../../shared/run-failure.js';
import { openQuestions } from '../../../shared/subagents.js';
import { checkpointId, placeBehind, settledAt } from './checkpoints.js';
import { interruptOf } from './interrupts.js';
import { toLangChain } from './messages.js';
import type { Thread } from './threads.js';

/** The state of a thread: its settled messages and its questions. An unfinished answer comes with the thread's events. */
export function stateIn(thread: Thread) {
  const { state, app } = thread;
  const { run, queue, messages } = state;
  const asked = openQuestions(thread.state);
  const shown = run && asked.length > 0 ? [...messages, run.message] : messages;
  const interrupts = asked.map((question) => ({
    id: question.callId,
    value: interruptOf(question, run!.message),
  }));
  const isBusy = run !== null || queue.length > 0;
  const task = {
    id: run?.runId ?? queue[0]?.runId,
    name: app,
    error: null,
    interrupts,
    checkpoint: null,
    state: null,
    result: null,
  };
  return {
    ...placed(thread.id, messages),
    values: { messages: toLangChain(shown), ...(interrupts.length > 0 && { __interrupt__: interrupts }) },
    next: isBusy ? [app] : [],
    tasks: isBusy ? [task] : [],
    interrupts,
  };
}

/** About how many messages the states of one response may repeat in total. Each state repeats all messages up to it. */
const TOLD = 10_000;

/**
 * The past states of a thread, the newest first: one behind each of its messages. Each is JSON, since all repeat the same messages, which
 * are written once.
 *
 * @param options `at`: from this state on; `before`: from the one before this on
 */
export function* historyIn(
  thread: Thread,
  { limit = 10, at, before }: { readonly limit?: number; readonly at?: string; readonly before?: string },
): Generator<string> {
  const { messages } = thread.state;
  const place = at ?? before;
  const found = messages.findIndex((message) => placeBehind(message) === place) + (at === undefined ? 0 : 1);
  const texts: string[] = [];
  const textUpTo = (count: number): string => {
    for (let next = texts.length; next < count; next++)
      texts.push(
        toLangChain([messages[next]!])
          .map((message) => JSON.stringify(message))
          .join(),
      );
    return texts
      .slice(0, count)
      .filter((text) => text !== '')
      .join();
  };
  let told = 0;
  let left = limit;
  for (
    let count = place === undefined ? messages.length : found;
    count > 0 && left > 0 && told < TOLD;
    count--, left--
  ) {
    told += count;
    if (count === messages.length) yield JSON.stringify(stateIn(thread));
    else {
      const rest = { ...placed(thread.id, messages.slice(0, count)), next: [], tasks: [], interrupts: [] };
      yield `{"values":{"messages":[${textUpTo(count)}]},${JSON.stringify(rest).slice(1)}`;
    }
  }
}

/** The status of a thread. */
export function statusOf(thread: Pick<Thread, 'state'>): 'idle' | 'busy' | 'interrupted' | 'error' {
  const { run, queue, messages } = thread.state;
  if (openQuestions(thread.state).length > 0) return 'interrupted';
  if (run || queue.length > 0) return 'busy';
  return failureOf(messages.at(-1)?.stopReason ?? 'end') ? 'error' : 'idle';
}

/** A thread in the form of the classic routes. @param began The time of a thread in which nothing was said */
export function threadIn(thread: Thread, began = 0): object {
  const { messages, metadata } = thread.state;
  const last = messages.at(-1);
  const { values } = stateIn(thread);
  return {
    thread_id: thread.id,
    created_at: iso(messages[0]?.createdAt ?? began),
    updated_at: iso(last ? settledAt(last) : began),
    state_updated_at: iso(last ? settledAt(last) : began),
    metadata: { ...metadata, graph_id: thread.app, assistant_id: thread.app },
    status: statusOf(thread),
    config: {},
    values,
    interrupts: {},
  };
}

/** The place of the last message. Readers ignore events before `created_at`, so that is the time when the message was settled. */
function placed(threadId: string, messages: readonly Message[]) {
  const last = messages.at(-1);
  const before = messages.at(-2);
  const place = (id: string) => ({
    thread_id: threadId,
    checkpoint_ns: '',
    checkpoint_id: id,
    checkpoint_map: null,
  });
  return {
    checkpoint: place(last ? placeBehind(last) : checkpointId(0, null)),
    parent_checkpoint: last
      ? place(before ? placeBehind(before) : checkpointId(0, last.parentId ?? null))
      : null,
    metadata: {
      step: messages.length,
      source: last?.role === 'user' ? 'input' : 'loop',
      writes: null,
      parents: {},
    },
    created_at: iso(last ? settledAt(last) : 0),
  };
}

/** A time in the protocol's form. */
export function iso(ts: number): string {
  return new Date(ts).toISOString();
}
