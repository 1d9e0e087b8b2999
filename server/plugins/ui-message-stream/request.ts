import * as z from 'zod';
import type { CallAnswer } from '../../../shared/asked-calls.js';
import type { ContentBlock } from '../../../shared/messages.js';
import type { UiPart } from '../../../shared/ui-stream/chunks.js';
import { idSchema } from '../../../shared/values/schema.js';
import type { ClientTool } from '../../apps/application.js';
import { fromUIMessages, uiMessageSchema } from '../../chat-format/from-ui.js';
import { fieldError, read } from '../conversation/errors.js';

const message = uiMessageSchema.extend({ id: idSchema });

const bodySchema = z.looseObject({
  id: z.string().min(1),
  messages: z.array(z.unknown()).optional(),
  message: z.unknown().optional(),
  trigger: z.string().optional(),
  messageId: idSchema.nullish(),
});

const toolsSchema = z.record(
  idSchema,
  z.looseObject({
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
  }),
);

/** The message of a request. */
export interface UiRequestMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: readonly ContentBlock[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The parts of its client's version. */
  readonly parts: readonly UiPart[];
  /** The answers that its client put into it, by call. */
  readonly answers: ReadonlyMap<string, CallAnswer>;
}

/** A request of an interface. */
export interface UiRequest {
  readonly chatId: string;
  /** The client's messages before it, as they were sent. */
  readonly before: readonly unknown[];
  readonly message: UiRequestMessage;
  readonly regenerates: boolean;
  /** The id in the request: of a message to edit, or of the answer to give again. */
  readonly messageId: string | undefined;
  readonly clientTools: readonly ClientTool[];
  /** The request's own further fields. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Reads a request of an interface. @throws GatewayError `INVALID_REQUEST`, or `INVALID_PARAMS` naming a part */
export function readUiRequest(body: unknown): UiRequest {
  const given = read(bodySchema, body);
  const { id, messages = [], message: last = messages.at(-1), trigger, messageId, ...own } = given;
  const before = given.message === undefined ? messages.slice(0, -1) : messages;
  const { clientTools, rest } = toolsIn(own);
  return {
    chatId: id,
    before,
    message: readMessage(last),
    regenerates: trigger === 'regenerate-message',
    messageId: messageId ?? undefined,
    clientTools,
    metadata: rest,
  };
}

/** The tools that an interface brings along, by their names. */
function toolsIn(own: Readonly<Record<string, unknown>>): {
  readonly clientTools: readonly ClientTool[];
  readonly rest: Readonly<Record<string, unknown>>;
} {
  const { tools, ...rest } = own;
  const parsed = toolsSchema.safeParse(tools);
  if (!parsed.success) return { clientTools: [], rest: own };
  const clientTools = Object.entries(parsed.data).map(([name, { description, parameters }]) => ({
    name,
    ...(description !== undefined && { description }),
    ...(parameters && { parameters }),
  }));
  return { clientTools, rest };
}

type UiMessageInput = z.infer<typeof message>;

function readMessage(value: unknown): UiRequestMessage {
  if (value === undefined) throw fieldError('messages', 'there is no message to answer');
  const given = read(message, value, 'message');
  const { id, role, parts } = given;
  if (role === 'system') throw fieldError('message.role', 'a system message cannot be answered');
  if (parts.length === 0) throw fieldError('message.parts', 'the message is empty');
  if (role === 'assistant') return { id, role, content: [], parts, answers: answersIn(parts) };
  const [said] = fromUIMessages([given]);
  const { content, metadata } = said!;
  return {
    id,
    role,
    content: content as readonly ContentBlock[],
    ...(metadata && { metadata }),
    parts,
    answers: new Map(),
  };
}

const answered = z.discriminatedUnion('state', [
  z.looseObject({
    state: z.literal('approval-responded'),
    toolCallId: z.string(),
    approval: z.looseObject({ approved: z.boolean(), reason: z.string().optional() }),
  }),
  z.looseObject({ state: z.literal('output-available'), toolCallId: z.string(), output: z.unknown() }),
  z.looseObject({ state: z.literal('output-error'), toolCallId: z.string(), errorText: z.string() }),
]);

function answersIn(parts: UiMessageInput['parts']): ReadonlyMap<string, CallAnswer> {
  const answers = new Map<string, CallAnswer>();
  for (const part of parts) {
    if (part.type !== 'dynamic-tool' && !part.type.startsWith('tool-')) continue;
    const parsed = answered.safeParse(part);
    if (parsed.success) answers.set(parsed.data.toolCallId, toAnswer(parsed.data));
  }
  return answers;
}

function toAnswer(part: z.infer<typeof answered>): CallAnswer {
  switch (part.state) {
    case 'approval-responded': {
      const { approved, reason } = part.approval;
      return { kind: 'confirmation', approved, ...(reason !== undefined && { reason }) };
    }
    case 'output-available':
      return { kind: 'output', output: part.output ?? null };
    default:
      return { kind: 'failure', reason: part.errorText };
  }
}
