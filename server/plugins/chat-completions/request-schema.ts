import * as z from 'zod';
import { chatMessageSchema, toolName } from '../../chat-format/chat-schema.js';

const tool = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('function'),
    function: z.object({
      name: toolName,
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
  z.object({
    type: z.literal('custom'),
    custom: z.looseObject({ name: toolName, description: z.string().nullish() }),
  }),
]);
const name = z.object({ name: z.string() });
const chosen = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function'), function: name }),
  z.looseObject({ type: z.literal('custom'), custom: name }),
]);

const count = z.number().int().min(1);
/** Clients of local models write -1 for no limit. */
const bound = z.union([count, z.literal(-1).transform(() => null)]);

/** The body of a completion request. Unknown fields are kept; null stands for absent. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(chatMessageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  // OpenRouter's own way to ask for it.
  usage: z.looseObject({ include: z.boolean().nullish() }).nullish(),
  n: count.nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      chosen,
      z.looseObject({
        type: z.literal('allowed_tools'),
        allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: z.array(chosen) }),
      }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  max_tokens: bound.nullish(),
  max_completion_tokens: bound.nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  seed: z.number().int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
  reasoning_effort: z.string().nullish(),
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
