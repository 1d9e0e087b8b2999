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
  if (!message) {
    const state = parent ? await conversation.state(parent) : thread?.state;
    const known = state?.messages.findLast(({ id, role }) => (parent ? id === parent : role === 'user'));
    if (state && known) return conversation.regenerate(state, known);
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'input: there is no message to answer' });
  }
  const { id = randomUUID(), content } = message;
  const sent = await session.sent(keyOf(id));
  // What was not sent here may be there all the same, which the send finds out.
  if (!sent)
    return conversation.send(await conversation.seeded(thread?.state ?? null, { messages: before }), {
      id,
      content,
    });
  const state = await conversation.state(id);
  const known = state && versionOf(state, id);
  return known && !sameContent(known.content, content)
    ? conversation.change(state, known, { id, content })
    : sent;
}
