import { baseOf } from '../ui-stream/versions.js';
import type { AgUiMessage, GivenMessage } from './events.js';
import { resultId } from './writer.js';

/** A message of a session, and the messages that it is for a client. */
export interface SnapshotMessage {
  readonly id: string;
  readonly messages: readonly AgUiMessage[];
  /** Whether it was taken back, so that clients drop what they have of it. */
  readonly isGone?: boolean;
}

/** The state that a client must have before a run is told to it. */
export interface Truth {
  /** The session's messages before the run's answer, the oldest first. Older ones may be left out. */
  readonly before: readonly SnapshotMessage[];
  /** Id of the answer that is about to be told; empty if there is none yet. */
  readonly answerId: string;
  /** The part of that answer that the client must already have. */
  readonly told: readonly AgUiMessage[];
  /** Whether the client is told all of this, although it has none of it. */
  readonly whole: boolean;
}

/** Owner numbers for the client's own messages, and for messages that the client must drop. */
const FOREIGN = -1;
const STALE = -2;

/**
 * The lists of messages that bring a client's conversation in line with the session's, to be told in this order. None if it is already in line. The
 * client's own messages stay at their place.
 */
export function snapshots(given: readonly GivenMessage[], truth: Truth): GivenMessage[][] {
  const groups = truth.before.filter(({ messages }) => messages.length > 0);
  if (truth.told.length > 0) groups.push({ id: truth.answerId, messages: truth.told });
  const owners = ownersOf(given, groups, truth);
  const held = groups.map((_, group) => given.filter((__, at) => owners[at] === group));
  const isWhole = groups.map(({ messages }, group) => holds(held[group]!, messages));
  const first = truth.whole ? 0 : held.findIndex((messages) => messages.length > 0);
  const isCurrent = first < 0 || isWhole.slice(first).every((whole) => whole);
  if (isCurrent && !owners.includes(STALE)) return truth.whole ? [[...given]] : [];
  const list: GivenMessage[] = [];
  let next = first < 0 ? groups.length : first;
  /** Puts missing messages after the one that they follow. */
  const fill = (): void => {
    for (; next < groups.length && held[next]!.length === 0; next++) list.push(...mended(groups[next]!, []));
  };
  for (const [at, message] of given.entries()) {
    const group = owners[at]!;
    fill();
    if (group === FOREIGN) list.push(message);
    if (group < 0) continue;
    if (isWhole[group]) list.push(message);
    else if (next <= group) list.push(...mended(groups[group]!, held[group]!));
    next = Math.max(next, group + 1);
  }
  fill();
  return reached(given, list);
}

/** The lists after which a client has exactly this one, whatever it had before. */
function reached(given: readonly GivenMessage[], list: GivenMessage[]): GivenMessage[][] {
  if (leadsTo(list, given, false)) return [list];
  const ids = new Set(given.map(({ id }) => id));
  const kept = list.find(({ id, role }) => ids.has(id) && role !== 'reasoning');
  if (!kept) return [list];
  // A list with reasoning makes clients drop all other reasoning. If two messages have the same id, the second counts.
  const mark: GivenMessage = { id: kept.id, role: 'reasoning', content: '' };
  if (leadsTo(list, given, true)) return [[mark, ...list]];
  const first = list[0]!;
  return [[mark, kept], ...(first === kept ? [] : [[first]]), list];
}

/** Whether a client ends up with a list. It keeps messages of the list in their place, and its reasoning if the list has none. */
function leadsTo(list: readonly GivenMessage[], given: readonly GivenMessage[], isMarked: boolean): boolean {
  const ids = new Set(list.map(({ id }) => id));
  const drops = isMarked || list.some(({ role }) => role === 'reasoning');
  const kept = given.filter(({ id, role }) => ids.has(id) || (!drops && role === 'reasoning'));
  const had = new Set(kept.map(({ id }) => id));
  const result = [...kept, ...list.filter(({ id }) => !had.has(id))];
  return result.length === list.length && result.every(({ id }, at) => id === list[at]!.id);
}

/** A group as the session has it, with the client's own answers added. */
function mended({ messages }: SnapshotMessage, held: readonly GivenMessage[]): GivenMessage[] {
  const answered = new Set(
    messages.flatMap((message) => (message.role === 'tool' ? message.toolCallId : [])),
  );
  const own = held.filter(({ role, toolCallId }) => role === 'tool' && !answered.has(toolCallId as string));
  return [...(messages as readonly GivenMessage[]), ...own];
}

/** The message of the session that each of the client's messages belongs to. */
function ownersOf(
  given: readonly GivenMessage[],
  groups: readonly SnapshotMessage[],
  truth: Truth,
): number[] {
  const { answerId, told } = truth;
  const byId = new Map<string, number>();
  // A client may know an edited message by its former id.
  for (const [group, { messages }] of groups.entries())
    for (const { id, role } of messages) byId.set(id, group).set(role === 'user' ? baseOf(id) : id, group);
  const byBase = new Map(groups.map(({ id }, group) => [id, group]));
  const isTold = new Set(told.map(({ id }) => id));
  const gone = new Set(truth.before.flatMap(({ id, isGone }) => (isGone ? [id] : [])));
  const isOfGone = (id: string, role: string): boolean =>
    gone.has(role === 'user' ? baseOf(id) : id) || [...gone].some((base) => id.startsWith(`${base}:`));
  const callers = new Map<string, number>();
  for (const [group, { messages }] of groups.entries())
    for (const call of messages.flatMap(callsOf)) callers.set(call, group);
  const byPrefix = (id: string): number => {
    for (let at = id.indexOf(':'); at >= 0; at = id.indexOf(':', at + 1)) {
      const group = byBase.get(id.slice(0, at));
      if (group !== undefined) return group;
    }
    return FOREIGN;
  };
  const ownerOf = ({ id, role }: GivenMessage): number => {
    const isAnswers = answerId !== '' && (id === answerId || id.startsWith(`${answerId}:`));
    if ((isAnswers && !isTold.has(id)) || isOfGone(id, role)) return STALE;
    return byId.get(id) ?? byBase.get(id) ?? (role === 'user' ? FOREIGN : byPrefix(id));
  };
  const owners = given.map((message) => (message.role === 'tool' ? FOREIGN : ownerOf(message)));
  for (const [at, message] of given.entries())
    if (owners[at] !== FOREIGN) for (const call of callsOf(message)) callers.set(call, owners[at]!);
  for (const [at, message] of given.entries()) {
    if (message.role !== 'tool') continue;
    const owner = callers.get(message.toolCallId as string) ?? ownerOf(message);
    // The result of a call that was told before is told now.
    const isRetold = groups[owner]?.id === answerId && isResult(message) && !isTold.has(message.id);
    owners[at] = isRetold ? STALE : owner;
  }
  return owners;
}

/** Whether a message is a result that a stream told, and not the client's own answer. */
function isResult({ id, toolCallId }: GivenMessage): boolean {
  return id === resultId(String(toolCallId));
}

function callsOf(message: GivenMessage | AgUiMessage): string[] {
  const { role, toolCalls } = message as GivenMessage;
  return role === 'assistant' && Array.isArray(toolCalls) ? toolCalls.map(({ id }) => String(id)) : [];
}

/** Whether a client has all messages that a message of the session becomes, with the same text. */
function holds(held: readonly GivenMessage[], messages: readonly AgUiMessage[]): boolean {
  if (held.length === 0) return false;
  const calls = new Set(held.flatMap(callsOf));
  const results = new Set(held.flatMap(({ role, toolCallId }) => (role === 'tool' ? [toolCallId] : [])));
  return (
    textIn(held, 'assistant') === textIn(messages, 'assistant') &&
    textIn(held, 'reasoning') === textIn(messages, 'reasoning') &&
    messages.every((message) =>
      message.role === 'tool'
        ? results.has(message.toolCallId)
        : callsOf(message).every((call) => calls.has(call)),
    )
  );
}

function textIn(messages: readonly (GivenMessage | AgUiMessage)[], of: string): string {
  let text = '';
  for (const { role, content } of messages as readonly GivenMessage[])
    if (role === of && typeof content === 'string') text += content;
  return text;
}
