import type { ContentBlock, Message, MessageInput, SendInput } from '../../shared/messages.js';
import { givenId, newMessageId } from '../ids.js';

/** A message as sessions keep it, with the caller's id and time if given. */
export function toMessage(input: SendInput, senderId?: string): Message {
  const given: MessageInput =
    typeof input === 'string' || Array.isArray(input)
      ? { content: input as string | readonly ContentBlock[] }
      : (input as MessageInput);
  const { role = 'user', content, createdAt = Date.now(), metadata } = given;
  const id = given.id === undefined ? newMessageId() : givenId(given.id, 'message.id');
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  return {
    id,
    role,
    content: blocks,
    createdAt,
    ...(senderId !== undefined && { senderId }),
    ...(metadata && { metadata }),
  };
}
