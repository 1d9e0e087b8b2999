import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import { sameContent, versionOf } from '../../../shared/ui-stream/versions.js';
import { Conversation, keyOf, type RunPlace } from '../conversation/conversation.js';
import type { ConversationOptions } from '../conversation/options.js';
import type { PluginSession } from '../plugin.js';
import type { RunStart } from './input.js';
import type { Thread } from './threads.js';

/**
 * Begins what a client asks for. What is asked for again, by the id of its message, is the run that it was.
 *
 * @param thread The thread as it was; null where it has not begun
 * @throws GatewayError
 */
export async function begin(
  session: PluginSession,
  thread: Thread | null,
  start: RunStart,
  options: ConversationOptions,
): Promise<RunPlace> {
  const { message, before, parent, metadata = {}, parameters = {}, onBusy = options.onBusy } = start;
  const brought = { metadata, parameters, ...(parent !== undefined && { parent }) };
  const conversation = new Conversation(session, { ...options, onBusy }, brought);
  const state = thread?.state ?? null;
  if (!message) {
    const known = state?.messages.findLast(({ id, role }) => (parent ? id === parent : role === 'user'));
    if (state && known) return conversation.regenerate(state, known);
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'input: there is no message to answer' });
  }
  const { id = randomUUID(), content } = message;
  const known = state && versionOf(state, id);
  const sent = await session.sent(keyOf(id));
  if (sent && (!known || sameContent(known.content, content))) return sent;
  if (state && known) return conversation.change(state, known, { id, content });
  return conversation.send(await conversation.seeded(state, { messages: before }), { id, content });
}
