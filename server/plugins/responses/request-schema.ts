import * as z from 'zod';
import { toolName } from '../../chat-format/chat-schema.js';
import { VENDOR_ITEMS } from './vendor-items.js';

const inputPart = z.union([
  z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({
    type: z.literal('input_image'),
    image_url: z.string().nullish(),
    file_id: z.string().nullish(),
    detail: z.string().nullish(),
  }),
  z.looseObject({
    type: z.literal('input_file'),
    file_data: z.string().nullish(),
    file_url: z.string().nullish(),
    file_id: z.string().nullish(),
    filename: z.string().nullish(),
  }),
]);

const content = z.union([z.string(), z.array(inputPart)]);
// An output must not name a file: only message content keeps a file, and a tool result inside it does not.
const output = z.union([
  z.string(),
  z.array(
    inputPart.refine((part) => part.file_id == null, {
      path: ['file_id'],
      message: 'an output cannot name a file: send its bytes or its address',
    }),
  ),
]);
const callId = z.string().min(1).max(600);
const id = z.string().max(1024).nullish();

/** Types that are no tools of the vendor's: tools that a caller brings, and a list of some. */
const BROUGHT: ReadonlySet<string> = new Set(['function', 'custom', 'allowed_tools']);

/** An item of an input. Without a type it is a message. */
const item = z.union([
  z.looseObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'system', 'developer', 'assistant']),
    content,
    id,
  }),
  z.looseObject({
    type: z.literal('function_call'),
    call_id: callId,
    name: toolName,
    arguments: z.string(),
    id,
  }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: callId, output, id }),
  z.looseObject({
    type: z.literal('custom_tool_call'),
    call_id: callId,
    name: toolName,
    input: z.string(),
    id,
  }),
  z.looseObject({ type: z.literal('custom_tool_call_output'), call_id: callId, output, id }),
  z.looseObject({
    type: z.literal('mcp_call'),
    name: toolName,
    arguments: z.string(),
    output: z.string().nullish(),
    error: z.unknown().optional(),
    id,
  }),
  z.looseObject({ type: z.literal('mcp_approval_request'), id }),
  z.looseObject({
    type: z.literal('mcp_approval_response'),
    approval_request_id: z.string().min(1).max(1024),
    approve: z.boolean(),
    reason: z.string().nullish(),
  }),
  z.looseObject({ type: z.literal('reasoning') }),
  z.looseObject({ type: z.literal('item_reference'), id: z.string().min(1).max(1024) }),
  z.strictObject({ type: z.null(), id: z.string().min(1).max(1024) }),
  z.looseObject({ type: z.enum(VENDOR_ITEMS), id, call_id: callId.nullish() }),
]);

/** An item of an input. */
export type InputItem = z.infer<typeof item>;
/** A part of a message's content. */
export type InputPart = z.infer<typeof inputPart>;

/** A list of items. */
export const itemsSchema = z.array(item);

/** A tool of the vendor's. It is accepted, but not served. */
const hosted = z.looseObject({ type: z.string().refine((type) => !BROUGHT.has(type), 'needs a name') });
const named = z.looseObject({ type: z.enum(['function', 'custom']), name: z.string() });
const count = z.number().int().min(0);

/** The body of a request. Unknown fields are kept; null stands for absent. */
export const requestSchema = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string(), itemsSchema]).nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().min(1).max(1024).nullish(),
  conversation: z
    .union([z.string().min(1).max(128), z.looseObject({ id: z.string().min(1).max(128) })])
    .nullish(),
  background: z.boolean().nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({}).nullish(),
  tools: z
    .array(
      z.union([
        z.looseObject({
          type: z.literal('function'),
          name: toolName,
          description: z.string().nullish(),
          parameters: z.record(z.string(), z.unknown()).nullish(),
          strict: z.boolean().nullish(),
        }),
        z.looseObject({
          type: z.literal('custom'),
          name: toolName,
          description: z.string().nullish(),
          format: z.record(z.string(), z.unknown()).nullish(),
        }),
        hosted,
      ]),
    )
    .nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      named,
      z.looseObject({
        type: z.literal('allowed_tools'),
        mode: z.enum(['auto', 'required', 'none']).optional(),
        tools: z.array(z.union([named, hosted])),
      }),
      hosted,
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: count.nullish(),
  max_tool_calls: count.nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  top_logprobs: count.nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  service_tier: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  user: z.string().nullish(),
});

/** The checked body of a request. */
export type RequestBody = z.infer<typeof requestSchema>;
