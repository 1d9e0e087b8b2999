import type { Message } from '../../shared/messages.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { LogSource } from '../stores/store.js';
import { type LogView, MESSAGES_IN_MEMORY } from './log-view.js';
import { longest, withVersions } from './versions.js';

/** The messages of a folded log that are in memory. */
type InMemory = Pick<LogView, 'state' | 'aside'>;

/**
 * The last `limit` messages of a folded log up to one, oldest first, whether or not the log shows that: from memory, else from the
 * store's rows. None where there is no such message.
 */
export async function pathTo(log: LogView, tip: string, limit: number): Promise<readonly Message[]> {
  let path: readonly Message[] = [];
  let before: string | null = tip;
  while (before !== null && path.length < limit) {
    const part = partInMemory(log, before, limit - path.length);
    if (part.length === 0) break;
    path = [...part, ...path];
    before = part[0]!.parentId ?? null;
  }
  if (before !== null && path.length < limit)
    path = [...(await log.storedMessages(before, limit - path.length)), ...path];
  // A message that was left says of its versions what was known by then.
  return log.aside.size === 0 ? path : withVersions(path, inMemory(log));
}

/** The path to a message of a folded log, for a log that is to begin with it: what is in memory, and where the rest ends in the store's rows. */
export async function sourceOf(log: LogView, tip: string | null): Promise<LogSource | null> {
  let messages: readonly Message[] = [];
  let before = tip;
  while (before !== null) {
    const part = partInMemory(log, before, Number.POSITIVE_INFINITY);
    if (part.length === 0) break;
    messages = [...part, ...messages];
    before = part[0]!.parentId ?? null;
  }
  if (before === null) return { messages };
  const isRow = (await log.storedMessages(before, 1)).length > 0;
  return isRow || messages.length > 0 ? { log: log.ref, tip: before, messages } : null;
}

/**
 * How many messages the path to one has, whether or not the log shows that; 0 where there is no such message. Rows are followed only where
 * the path joins the one that is shown further back than memory reaches.
 */
export async function pathLength(log: LogView, tip: string | null): Promise<number> {
  const { messages, messageCount } = log.state;
  let length = 0;
  let end = tip;
  while (end !== null) {
    const at = messages.findLastIndex(({ id }) => id === end);
    if (at >= 0) return length + messageCount - (messages.length - 1 - at);
    const other = log.aside.get(end);
    if (!other) return length + (await log.storedLength(end));
    length += 1;
    end = other.parentId ?? null;
  }
  return length;
}

/** What is shown before a message of the path: as much as memory keeps, also where a move has left less than that in it. */
export function shownBefore(log: LogView, id: string): MaybePromise<readonly Message[]> {
  const { messages, hasMore } = log.state;
  const at = messages.findLastIndex((message) => message.id === id);
  const shown = at < 0 ? messages : messages.slice(0, at);
  const before = messages[0]?.parentId ?? null;
  if (!hasMore || before === null || messages.length >= MESSAGES_IN_MEMORY) return shown;
  return pathTo(log, before, MESSAGES_IN_MEMORY - messages.length).then((older) => [...older, ...shown]);
}

/** The last of the messages of a folded log behind one of them: at each step the newest, whether or not the log shows that. */
export async function lastBehind(log: LogView, id: string): Promise<string> {
  for (let last = id; ; ) {
    const next = repliesTo(log, last, await log.storedReplies(last)).at(-1);
    if (next === undefined) return last;
    last = next;
  }
}

function partInMemory({ state, aside }: InMemory, end: string, limit: number): readonly Message[] {
  const { messages } = state;
  const at = messages.findLastIndex(({ id }) => id === end) + 1;
  if (at > 0) return messages.slice(Math.max(0, at - limit), at);
  const other = aside.get(end);
  return other ? [other] : [];
}

function inMemory({ state, aside }: InMemory): readonly Message[] {
  return [...aside.values(), ...state.messages];
}

/** Ids of the messages that follow one, oldest first. @param stored Those that are rows */
export function repliesTo(
  log: InMemory,
  parent: string | null,
  stored: readonly string[],
): readonly string[] {
  const replies = inMemory(log).filter(({ parentId = null }) => parentId === parent);
  // Who came last knows all that were there before.
  return longest([stored, ...replies.map(({ id, versions = [id] }) => versions)]);
}
