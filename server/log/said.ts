import type { SessionState } from '../../shared/fold.js';
import { type Message, textOf } from '../../shared/messages.js';
import type { SaidChanges, SaidText } from '../stores/said.js';
import type { MessageRow } from '../stores/stored.js';

type Shown = Pick<SessionState, 'messages' | 'messageCount' | 'tip'>;

/** The part of a message that search finds: the text that a person wrote, or the app answered. No grant hides text. */
function saidIn(message: Message, depth: number): SaidText {
  const { id: messageId, role, createdAt, endedAt: at = createdAt } = message;
  const isSpoken = role === 'user' || role === 'assistant';
  return {
    depth,
    messageId,
    role: role === 'user' ? role : 'assistant',
    at,
    text: isSpoken ? textOf(message) : '',
  };
}

/** Events of a run that change no message but by adding some behind the last one. */
const APPENDING: ReadonlySet<string> = new Set(['message_accepted', 'message_start', 'message_end']);

/**
 * Compares what a conversation shows in two states, for search. It also sees a message whose text was replaced. Null if nothing has changed.
 *
 * @param types Types of the events between them. A turn that only adds messages is not compared with all that memory has
 */
export function saidChanges(before: Shown, after: Shown, types: readonly string[]): SaidChanges | null {
  if (before.messages === after.messages && before.tip === after.tip) return null;
  const [hidden, next] = [before, after].map(({ messages, messageCount }) => messageCount - messages.length);
  const put: SaidText[] = [];
  const isAdded = next === hidden && types.every((type) => APPENDING.has(type));
  const from = isAdded ? before.messages.length : 0;
  after.messages.slice(from).forEach((message, n) => {
    const i = from + n;
    const depth = next! + i + 1;
    const former = before.messages[depth - hidden! - 1];
    if (former === message) return;
    const said = saidIn(message, depth);
    if (former?.id === message.id && former.endedAt === message.endedAt && textOf(former) === said.text)
      return;
    if (depth <= before.messageCount) put.push(said);
    else if (said.text !== '') put.push({ isNew: true, ...said });
  });
  if (!isJoined(before, after, hidden!, next!)) return { from: 1, put };
  if (after.messageCount < before.messageCount || before.tip === null)
    return { from: after.messageCount + 1, put };
  return put.length > 0 ? { put } : null;
}

/** Whether all that is above the messages of the one state is surely above those of the other. */
function isJoined(before: Shown, after: Shown, hidden: number, next: number): boolean {
  const [first] = after.messages;
  if (before.tip === null || next === 0 || !first) return true;
  const former = before.messages[next - hidden];
  return former?.parentId === first.parentId || before.messages[next - hidden - 1]?.id === first.parentId;
}

/** The parts of messages that search finds, in their order. */
export const saidInMessages = (messages: readonly Message[]): readonly SaidText[] =>
  messages.map((message, i) => saidIn(message, i + 1)).filter(({ text }) => text !== '');

/** The rows with which a conversation begins, for search. */
export const saidInRows = (rows: readonly MessageRow[]): SaidChanges => ({
  put: rows.map((row) => saidIn(row, row.depth)),
});
