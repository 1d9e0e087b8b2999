import * as z from 'zod';
import type { ImportedMessage, ImportFormat } from '../../shared/operation-types.js';
import { importedMessageSchema } from '../../shared/schemas/messages.js';
import { validate } from '../schema/validate.js';
import { chatMessageSchema } from './chat-schema.js';
import type { ChatMessage } from './chat-types.js';
import { fromChatMessages } from './from-chat.js';
import { fromUIMessages, uiMessageSchema } from './from-ui.js';

const WHAT = 'params of import';

const own = z.object({ messages: z.array(importedMessageSchema) });
const ui = z.object({ messages: z.array(uiMessageSchema) });
const openai = z.object({ messages: z.array(chatMessageSchema) });

/**
 * Reads the messages of an imported conversation in any supported format.
 *
 * @throws GatewayError `INVALID_PARAMS` or `INVALID_REQUEST`, naming the field
 */
export function conversationOf(
  format: ImportFormat,
  messages: readonly unknown[],
): readonly ImportedMessage[] {
  if (format === 'messages') return read(own, messages);
  // The converted messages must fit the own schema too.
  return read(own, format === 'ui' ? fromUIMessages(read(ui, messages)) : fromChat(messages));
}

function fromChat(messages: readonly unknown[]): readonly unknown[] {
  return fromChatMessages(read(openai, messages) as readonly ChatMessage[]);
}

function read<T>(schema: z.ZodType<{ messages: T }>, messages: readonly unknown[]): T {
  return (validate(schema, { messages }, WHAT) as { readonly messages: T }).messages;
}
