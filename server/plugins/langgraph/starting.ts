import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import { sameContent, versionOf } from '../../../shared/ui-stream/versions.js';
import { Conversation, keyOf, type RunPlace } from '../conversation/conversation.js';
import type { ConversationOptions } from '../conversation/options.js';
import type { PluginSession } from '../plugin.js';
import type { RunStart } from './input.js';
import type { Thread } from './threads.js';

/**
 * Begins the run that a client asks for. A repeated request with the same message id leads to the same run.
 *
 * @param thread The thread before the request; null if it has not begun
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
  // The message may have been sent in another way. The send then finds that out.
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
