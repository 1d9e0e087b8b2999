import type { Message } from '../../shared/messages.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { LogRef } from '../stores/stored.js';
import { type LogView, MESSAGES_IN_MEMORY } from './log-view.js';
import { longest, withVersions } from './versions.js';

/** Messages of a conversation that begins with them: the rows of the path that ends with `tip` in another log, then `messages`. */
export interface FirstMessages {
  readonly log?: LogRef;
  readonly tip?: string;
  /** Each message has the previous one as its `parentId`. */
  readonly messages: readonly Message[];
}

/** Messages that are looked at in one turn of the event loop. */
const STEPS = 100;

/** The part of a folded log that is in memory. */
type InMemory = Pick<LogView, 'state' | 'aside'>;

/**
 * The last `limit` messages of the path to one, oldest first, from memory or the store's rows. The message need not be on the current path.
 * Empty if it does not exist.
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
  // A message off the path knows only the versions that existed when it was left.
  return log.aside.size === 0 ? path : withVersions(path, inMemory(log));
}

/** The path to a message as the beginning of a new log: the messages in memory, and the id of the row at which the rest ends. */
export async function sourceOf(log: LogView, tip: string | null): Promise<FirstMessages | null> {
  let messages: readonly Message[] = [];
  let before = tip;
  while (before !== null) {
    const part = partInMemory(log, before, Number.POSITIVE_INFINITY);
    if (part.length === 0) break;
    messages = [...part, ...messages];
    before = part[0]!.parentId ?? null;
  }
  if (before === null) return { messages };
  if (await log.storedPlace(before)) return { log: log.ref, tip: before, messages };
  return messages.length > 0 ? { messages } : null;
}

/** Number of messages on the path to one, which need not be on the current path. 0 if it does not exist. */
export async function depthOf(log: LogView, tip: string | null): Promise<number> {
  const { messages, messageCount } = log.state;
  let length = 0;
  let end = tip;
  while (end !== null) {
    const at = messages.findLastIndex(({ id }) => id === end);
    if (at >= 0) return length + messageCount - (messages.length - 1 - at);
    const other = log.aside.get(end);
    if (!other) return length + ((await log.storedPlace(end))?.depth ?? 0);
    length += 1;
    end = other.parentId ?? null;
  }
  return length;
}

/**
 * The messages before one on the path as it is now: as many as memory keeps, even if a move left fewer of them in memory. They are taken out
 * when they are asked for, so that a turn that looks at none costs the same in a long conversation.
 */
export function shownBefore(log: LogView, id: string): MaybePromise<() => readonly Message[]> {
  const { messages, hasMore } = log.state;
  const at = messages.findLastIndex((message) => message.id === id);
  const shown = (): readonly Message[] => (at < 0 ? messages : messages.slice(0, at));
  const before = messages[0]?.parentId ?? null;
  if (!hasMore || before === null || messages.length >= MESSAGES_IN_MEMORY) return shown;
  return pathTo(log, before, MESSAGES_IN_MEMORY - messages.length).then((older) => () => [
    ...older,
    ...shown(),
  ]);
}

/** The newest message behind one: at each step the newest reply, whether or not it is on the current path. */
export async function lastBehind(log: LogView, id: string): Promise<string> {
  let last = id;
  for (let steps = 1; ; steps++) {
    const next = repliesTo(log, last, await log.storedReplies(last)).at(-1);
    if (next === undefined) return last;
    last = next;
    // A store that answers at once would have all of a long path followed in one turn.
    if (steps % STEPS === 0) await new Promise(setImmediate);
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

/** Ids of the messages that follow one, oldest first. @param stored Ids of those that have rows */
export function repliesTo(
  log: InMemory,
  parent: string | null,
  stored: readonly string[],
): readonly string[] {
  const replies = inMemory(log).filter(({ parentId = null }) => parentId === parent);
  // The latest reply knows all earlier versions, so the longest list is complete.
  return longest([stored, ...replies.map(({ id, versions = [id] }) => versions)]);
}
