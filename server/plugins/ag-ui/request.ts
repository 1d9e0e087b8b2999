import * as z from 'zod';
import { approvalsIn } from '../../../shared/ag-ui/approvals.js';
import type { GivenMessage } from '../../../shared/ag-ui/events.js';
import type { CallAnswer } from '../../../shared/asked-calls.js';
import type { ContentBlock } from '../../../shared/messages.js';
import type { ImportedMessage } from '../../../shared/operation-types.js';
import { idSchema as id } from '../../../shared/values/schema.js';
import type { ClientTool } from '../../apps/application.js';
import { readArguments } from '../../chat-format/from-chat.js';
import { blockTypeOf, mediaOf } from '../../chat-format/media.js';
import { fieldError, read } from '../conversation/errors.js';

const tool = z.looseObject({
  name: id,
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

const inputSchema = z.looseObject({
  threadId: z.string().min(1),
  runId: id,
  protocolVersion: z.string().optional(),
  state: z.unknown().optional(),
  messages: z.array(z.looseObject({ id, role: z.string() })).default([]),
  tools: z.array(tool).default([]),
  context: z.array(z.unknown()).default([]),
  forwardedProps: z.unknown().optional(),
  resume: z
    .array(z.looseObject({ interruptId: z.string(), status: z.string(), payload: z.unknown().optional() }))
    .nullish(),
});

const source = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('data'), value: z.string(), mimeType: z.string().min(1) }),
  z.looseObject({ type: z.literal('url'), value: z.string().min(1), mimeType: z.string().min(1).optional() }),
]);
const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio', 'video', 'document', 'file']), source }),
  z.looseObject({
    type: z.literal('binary'),
    mimeType: z.string().min(1),
    url: z.string().min(1).optional(),
    data: z.string().optional(),
    filename: z.string().optional(),
  }),
]);
const contentSchema = z.union([z.string(), z.array(part)]);
const callSchema = z.looseObject({
  id,
  function: z.looseObject({ name: id, arguments: z.string() }),
});

/** A client's request. */
export interface AgUiRequest {
  readonly threadId: string;
  /** The client's own id of the run. */
  readonly runId: string;
  readonly version: '0' | '1.0';
  /** All messages of the client, as it sent them. */
  readonly messages: readonly GivenMessage[];
  readonly clientTools: readonly ClientTool[];
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The client's answers to confirmations, by call. */
  readonly resumed: ReadonlyMap<string, CallAnswer>;
}

/** Reads a client's request. @throws GatewayError `INVALID_REQUEST` */
export function readAgUiRequest(body: unknown): AgUiRequest {
  const given = read(inputSchema, body);
  const { threadId, runId, protocolVersion, messages, tools, resume } = given;
  const named = new Map(tools.map((each) => [each.name, each]));
  return {
    threadId,
    runId,
    version: protocolVersion === undefined ? '0' : '1.0',
    messages,
    clientTools: [...named.values()].map(({ name, description, parameters }) => ({
      name,
      ...(description !== undefined && { description }),
      ...(parameters && { parameters }),
    })),
    parameters: parametersIn(given),
    resumed: approvalsIn(resume ?? []),
  };
}

/** The client's fields beside its messages, if it has any. */
function parametersIn({ context, state, forwardedProps }: z.infer<typeof inputSchema>) {
  return {
    ...(context.length > 0 && { context }),
    ...(isSaid(state) && { state }),
    ...(isSaid(forwardedProps) && { forwardedProps }),
  };
}

function isSaid(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** The content of a user's message. @throws GatewayError `INVALID_REQUEST` */
export function contentOf(message: GivenMessage, at: number): readonly ContentBlock[] {
  const parts = read(contentSchema, message.content, `messages.${at}.content`);
  if (typeof parts === 'string') return [{ type: 'text', text: parts }];
  if (parts.length === 0) throw fieldError(`messages.${at}.content`, 'the message is empty');
  return parts.map(blockOf);
}

function blockOf(given: z.infer<typeof part>): ContentBlock {
  if (given.type === 'text') return { type: 'text', text: given.text };
  if (given.type === 'binary') {
    const { mimeType, url, data, filename } = given;
    const named = filename !== undefined && { name: filename };
    const media = data !== undefined ? { data } : mediaOf(url ?? '', mimeType);
    return { type: blockTypeOf(mimeType), ...media, mediaType: mimeType, ...named };
  }
  const { type: kind, source: from } = given;
  const type = kind === 'image' || kind === 'audio' ? kind : 'file';
  if (from.type === 'data') return { type, mediaType: from.mimeType, data: from.value };
  const unknown = kind === 'document' || kind === 'file' ? 'application/octet-stream' : `${kind}/*`;
  const { mimeType = unknown } = from;
  return { type, ...mediaOf(from.value, mimeType) };
}

/** A client's conversation, as the first messages of a session. Messages without a counterpart are left out. */
export function conversationIn(messages: readonly GivenMessage[]): ImportedMessage[] {
  const names = new Map<string, string>();
  return messages.flatMap((message, at): ImportedMessage[] => {
    const { role } = message;
    switch (role) {
      case 'user':
        return [{ id: message.id, role, content: contentOf(message, at) }];
      case 'system':
      case 'developer':
        return [{ id: message.id, role: 'system', content: textOf(message.content) }];
      case 'tool': {
        const callId = String(message.toolCallId);
        const name = names.get(callId);
        if (name === undefined) return [];
        const output = textOf(message.content);
        const isError = typeof message.error === 'string';
        return [{ id: message.id, role, content: [{ type: 'tool_result', callId, name, output, isError }] }];
      }
      case 'assistant': {
        const text = textOf(message.content);
        const content: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }];
        for (const { id: callId, function: called } of callsIn(message)) {
          names.set(callId, called.name);
          content.push({
            type: 'tool_use',
            callId,
            name: called.name,
            input: readArguments(called.arguments),
          });
        }
        return content.length > 0 ? [{ id: message.id, role, content }] : [];
      }
      default:
        return [];
    }
  });
}

function callsIn({ toolCalls }: GivenMessage): z.infer<typeof callSchema>[] {
  return Array.isArray(toolCalls)
    ? toolCalls.flatMap((call) => {
        const parsed = callSchema.safeParse(call);
        return parsed.success ? [parsed.data] : [];
      })
    : [];
}

/** The text of a message, also of one in parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((each) => (typeof each?.text === 'string' ? each.text : '')).join('');
}
