import * as z from 'zod';
import { idSchema as callId } from '../../shared/values/schema.js';

const text = z.object({ type: z.literal('text'), text: z.string() });
const refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });
const part = z.discriminatedUnion('type', [
  text,
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({ url: z.string(), detail: z.string().nullish() }),
  }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string(), format: z.enum(['wav', 'mp3']) }),
  }),
  z.object({
    type: z.literal('file'),
    file: z.object({
      file_data: z.string().optional(),
      file_id: z.string().optional(),
      filename: z.string().optional(),
    }),
  }),
]);
const plain = z.union([z.string(), z.array(text)]);
/** The name of a tool. */
export const toolName = z.string().min(1).max(256);
const toolCall = z.discriminatedUnion('type', [
  z.object({
    id: callId,
    type: z.literal('function'),
    function: z.object({ name: toolName, arguments: z.string() }),
  }),
  // A call of a conversation that began elsewhere. Its input may be any text.
  z
    .object({
      id: callId,
      type: z.literal('custom'),
      custom: z.object({ name: toolName, input: z.string() }),
    })
    .transform(({ id, custom: { name, input } }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(input) },
    })),
]);

/** Schema of a message of a chat-completions conversation. */
export const chatMessageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: plain }),
  z.object({ role: z.literal('developer'), content: plain }),
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(part)]) }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, refusal]))]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: callId, content: plain }),
]);
