import type { ContentBlock, Message, MessageInput } from '../../../shared/messages.js';
import type { PluginSession } from '../plugin.js';
import { pagesOf } from './state.js';

/** The number of messages that a send may hold. Older ones are left out, except for the leading system messages. */
const MAX_MESSAGES = 1000;

/** A conversation ready to be sent: the message to answer, and the messages before it. */
export interface SplitMessages {
  readonly input: MessageInput;
  readonly preceding: readonly MessageInput[];
}

/** A whole conversation, for a session that has none. Null if it has no messages. */
export function wholeConversation(list: readonly MessageInput[]): SplitMessages | null {
  const input = list.at(-1);
  if (!input) return null;
  const before = list.slice(0, -1).filter(({ content }) => content.length > 0);
  return { input: answerable(input), preceding: bounded(before) };
}

/** A message that can be sent: an empty one needs at least an empty text. */
export function answerable<Message extends MessageInput>(message: Message): Message {
  return message.content.length > 0 ? message : { ...message, content: [{ type: 'text', text: '' }] };
}

function bounded(messages: readonly MessageInput[]): readonly MessageInput[] {
  const room = MAX_MESSAGES - 1;
  if (messages.length <= room) return messages;
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const system = messages.slice(0, Math.min(Math.max(firstOther, 0), room));
  return [...system, ...messages.slice(messages.length - room + system.length)];
}

/**
 * The part of a caller's conversation that a session does not have yet: all messages after the last answer that it knows. The session is
 * the truth: earlier changes or omissions of the caller have no effect. If the session knows none of the caller's answers, all messages are
 * new but those that it evidently has. Null if none is new.
 */
export async function newInConversation(
  list: readonly MessageInput[],
  session: Pick<PluginSession, 'history'>,
): Promise<SplitMessages | null> {
  const open: Message[] = [];
  const system: Message[] = [];
  const calls = callsIn(list);
  let answered = false;
  for await (const { messages } of pagesOf(session)) {
    const known = new KnownAnswers(messages, calls);
    const at = list.findLastIndex((message) => message.role === 'assistant' && known.has(message));
    for (const message of [...messages].reverse()) {
      answered ||= message.role === 'assistant';
      if (!answered) open.push(message);
      if (message.role === 'system') system.push(message);
    }
    if (at >= 0) return wholeConversation(without(list.slice(at + 1), open));
  }
  return wholeConversation(without(list, [...open, ...system]));
}

/** Leaves out messages that the session already has, but never the one to be answered. */
function without(list: readonly MessageInput[], had: readonly Message[]): MessageInput[] {
  const texts = new Set(had.map(fingerprint));
  return list.filter((message, at) => at === list.length - 1 || !texts.has(fingerprint(message)));
}

function fingerprint({ role = 'user', content }: Pick<MessageInput, 'role' | 'content'>): string {
  return JSON.stringify([role, content]);
}

/** The ids of the calls that a caller knows. */
function callsIn(list: readonly MessageInput[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const { content } of list)
    if (typeof content !== 'string')
      for (const block of content) if (block.type === 'tool_use') calls.add(block.callId);
  return calls;
}

/** Recognizes answers of a session in a caller's copy of the conversation. */
class KnownAnswers {
  readonly #calls = new Set<string>();
  readonly #texts = new Set<string>();
  /** Texts of the newest answer. If it was cut off, its caller may have seen only the beginning. */
  readonly #newest: ReadonlySet<string>;

  constructor(messages: readonly Message[], callsOfCaller: ReadonlySet<string>) {
    let newest: ReadonlySet<string> = new Set();
    for (const { role, content } of messages) {
      if (role !== 'assistant') continue;
      newest = textsOf(content, callsOfCaller);
      for (const text of newest) this.#texts.add(text);
      for (const block of content) if (block.type === 'tool_use') this.#calls.add(block.callId);
    }
    this.#newest = newest;
  }

  has({ content }: MessageInput): boolean {
    let text = '';
    for (const block of content as readonly ContentBlock[]) {
      if (block.type === 'tool_use' && this.#calls.has(block.callId)) return true;
      if (block.type === 'text') text += block.text;
    }
    const seen = normal(text);
    if (seen === '') return false;
    return this.#texts.has(seen) || [...this.#newest].some((whole) => whole.startsWith(seen));
  }
}

/** The texts of an answer as its caller saw them. Calls of the caller's tools divide it into several messages, each behind their results. */
function textsOf(content: readonly ContentBlock[], callsOfCaller: ReadonlySet<string>): ReadonlySet<string> {
  let texts = [''];
  for (const block of content) {
    if (block.type === 'tool_result' && callsOfCaller.has(block.callId)) texts.push('');
    else if (block.type === 'text') texts = texts.map((text) => text + block.text);
  }
  return new Set(texts.map(normal));
}

/** Clients trim and re-wrap their copies. */
function normal(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
