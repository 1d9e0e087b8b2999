import * as z from 'zod';
import { compactionSchema } from '../compaction/schema.js';
import type { Message, MessageInput } from '../messages.js';
import type { ImportedMessage } from '../operation-types.js';
import { reactionSchema } from '../reactions/schema.js';
import { idSchema as id } from '../values/schema.js';
import { variantsSchema } from '../variants/schema.js';
import { anything } from './anything.js';
import type { Exactly } from './exactly.js';
import { stopReasonSchema } from './words.js';

const metadata = z.record(z.string(), z.unknown());
const media = {
  mediaType: z.string().min(1),
  name: z.string().exactOptional(),
  fileId: z.string().exactOptional(),
  url: z.string().exactOptional(),
  data: z.string().exactOptional(),
};

/** One block of content. */
export const contentBlockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('reasoning'), text: z.string() }),
  z.object({ type: z.literal('image'), ...media }),
  z.object({ type: z.literal('file'), ...media }),
  z.object({ type: z.literal('audio'), ...media }),
  z.object({
    type: z.literal('resource'),
    uri: z.string(),
    mediaType: z.string().exactOptional(),
    text: z.string().exactOptional(),
    data: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('tool_use'),
    callId: id,
    name: z.string().min(1),
    input: anything,
    providerExecuted: z.boolean().exactOptional(),
    runsOn: z.literal('client').exactOptional(),
    denied: z.literal(true).exactOptional(),
  }),
  z.object({
    type: z.literal('tool_result'),
    callId: id,
    name: z.string().min(1),
    output: anything,
    isError: z.boolean(),
  }),
  z.object({ type: z.literal('data'), id, name: id, value: anything }),
]);

const [first, ...others] = contentBlockSchema.options.map((block) => block.strict());

/** One block of content in a request. A field that would be lost is refused. */
export const contentBlockInputSchema = z.discriminatedUnion('type', [first!, ...others]);

const text = z.string().min(1);

const role = z.enum(['user', 'assistant', 'system', 'tool']);

/** Token counts, and other fields that the app reports. */
export const usageSchema = z.looseObject({
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  totalTokens: z.number().exactOptional(),
  cachedInputTokens: z.number().exactOptional(),
  reasoningTokens: z.number().exactOptional(),
  model: z.string().exactOptional(),
  cost: z.number().exactOptional(),
  currency: z.string().exactOptional(),
});

/** How a message was taken back. */
export const retractionSchema = z.object({
  at: z.number(),
  by: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

const sentOrAnswered = {
  id,
  parentId: id.nullable().exactOptional(),
  versions: z.array(id).exactOptional(),
  role,
  content: z.array(contentBlockSchema),
  createdAt: z.number(),
  senderId: id.exactOptional(),
  author: z.literal('operator').exactOptional(),
  // The outcome of an answer's run.
  runId: id.exactOptional(),
  app: id.exactOptional(),
  stopReason: stopReasonSchema.exactOptional(),
  error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  usage: usageSchema.exactOptional(),
  totalUsage: usageSchema.exactOptional(),
  endedAt: z.number().exactOptional(),
  metadata: metadata.exactOptional(),
  reactions: z.array(reactionSchema).exactOptional(),
  compaction: compactionSchema.exactOptional(),
  variants: variantsSchema.exactOptional(),
  retracted: retractionSchema.exactOptional(),
};

/** The fields of the place of a run beside the conversation, without the message that it answers. */
export const lanePlaceShape = {
  lane: z.number().int(),
  name: id.exactOptional(),
  parentRunId: id.exactOptional(),
  callId: id.exactOptional(),
  detached: z.literal(true).exactOptional(),
  wakes: z.literal(true).exactOptional(),
  keep: z.literal(false).exactOptional(),
};

/** A message for, or of, a run beside the conversation. It has no children: their list is flat. */
export const laneMessageSchema = z.object(sentOrAnswered);

/** A message for such a run while it runs. */
export const steeringMessageSchema = z.object({
  ...sentOrAnswered,
  taken: z.literal(true).exactOptional(),
});

/** The messages for a run beside the conversation. */
export const toldShape = {
  asked: laneMessageSchema,
  steering: z.array(steeringMessageSchema).exactOptional(),
};

/** A child run that has ended. */
export const childAnswerSchema = z.object({
  ...lanePlaceShape,
  runId: id,
  app: id,
  ...toldShape,
  message: laneMessageSchema,
  stopReason: stopReasonSchema,
  error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  usage: usageSchema.exactOptional(),
  totalUsage: usageSchema.exactOptional(),
  endedAt: z.number(),
});

const message = z.object({ ...sentOrAnswered, children: z.array(childAnswerSchema).exactOptional() });

/** A message as sessions keep it. */
export const messageSchema: z.ZodType<Message> = message satisfies Exactly<typeof message, Message>;

const messageInput = z.strictObject({
  id: id.exactOptional(),
  role: role.exactOptional(),
  content: z.union([text, z.array(contentBlockInputSchema).min(1)]),
  createdAt: z.number().exactOptional(),
  metadata: metadata.exactOptional(),
});

/** A message in a request. */
export const messageInputSchema: z.ZodType<MessageInput> = messageInput satisfies Exactly<
  typeof messageInput,
  MessageInput
>;

const importedMessage = z.strictObject({
  ...message.shape,
  id: id.exactOptional(),
  role: role.exactOptional(),
  content: z.union([text, z.array(contentBlockInputSchema)]),
  createdAt: z.number().min(0).exactOptional(),
});

/** An imported message. The answer of a run that failed may be empty. */
export const importedMessageSchema: z.ZodType<ImportedMessage> = importedMessage satisfies Exactly<
  typeof importedMessage,
  ImportedMessage
>;

/** Text, content blocks or a message. */
export const sendInputSchema = z.union([text, z.array(contentBlockInputSchema).min(1), messageInputSchema]);
