import * as z from 'zod';
import { cut } from '../../shared/cut.js';
import { fieldError, type GatewayError } from '../../shared/errors.js';
import type { ContentBlock, ToolResultBlock, ToolUseBlock } from '../../shared/messages.js';
import type { ImportedMessage } from '../../shared/operation-types.js';
import { blockTypeOf, mediaOf } from './media.js';

/** A `UIMessage` of the AI SDK, versions 5 to 7. Fields not listed here are not part of the conversation. */
export const uiMessageSchema = z.looseObject({
  id: z.string().optional(),
  role: z.enum(['system', 'user', 'assistant']),
  metadata: z.unknown().optional(),
  parts: z.array(z.looseObject({ type: z.string().min(1) })),
});

type UIMessage = z.infer<typeof uiMessageSchema>;
type UIPart = UIMessage['parts'][number];

const text = z.looseObject({ text: z.string() });
const file = z.looseObject({
  mediaType: z.string().min(1),
  filename: z.string().optional(),
  url: z.string(),
});
const data = z.looseObject({ id: z.string().min(1).optional(), data: z.unknown() });
const sourceUrl = z.looseObject({ url: z.string(), title: z.string().optional() });
const sourceDocument = z.looseObject({
  sourceId: z.string(),
  mediaType: z.string(),
  title: z.string(),
  filename: z.string().optional(),
});
const tool = z.looseObject({
  toolCallId: z.string().min(1),
  toolName: z.string().min(1).optional(),
  state: z.enum([
    'input-streaming',
    'input-available',
    'approval-requested',
    'approval-responded',
    'output-available',
    'output-error',
    'output-denied',
  ]),
  input: z.unknown().optional(),
  rawInput: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  providerExecuted: z.boolean().optional(),
  approval: z.looseObject({ reason: z.string().optional() }).optional(),
});

/**
 * Reads `UIMessage`s of the AI SDK.
 *
 * @throws GatewayError `INVALID_PARAMS` naming a part that has no counterpart here
 */
export function fromUIMessages(messages: readonly UIMessage[]): ImportedMessage[] {
  return messages.map(({ id, role, metadata, parts }, at) => ({
    // The id is empty if no server has named the message.
    ...(id && { id }),
    role,
    content: blocksOf(parts, `messages.${at}.parts`),
    ...(isRecord(metadata) && { metadata }),
  }));
}

/** Parallel calls come together, followed by their results. */
function blocksOf(parts: readonly UIPart[], path: string): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  let results: ToolResultBlock[] = [];
  const settle = (): void => {
    blocks.push(...results);
    results = [];
  };
  for (const [at, part] of parts.entries()) {
    const where = `${path}.${at}`;
    if (part.type === 'dynamic-tool' || part.type.startsWith('tool-')) {
      const { call, result } = toolOf(part, where);
      blocks.push(call);
      if (result) results.push(result);
      continue;
    }
    settle();
    if (part.type !== 'step-start') blocks.push(blockOf(part, where));
  }
  settle();
  return blocks;
}

function blockOf(part: UIPart, path: string): ContentBlock {
  const { type } = part;
  switch (type) {
    case 'text':
    case 'reasoning':
      return { type, text: read(text, part, path).text };
    case 'file':
    case 'reasoning-file': {
      const { mediaType, filename, url } = read(file, part, path);
      const named = filename !== undefined && { name: filename };
      return { type: blockTypeOf(mediaType), ...mediaOf(url, mediaType), mediaType, ...named };
    }
    case 'source-url': {
      const { url, title } = read(sourceUrl, part, path);
      return { type: 'resource', uri: url, ...(title !== undefined && { text: title }) };
    }
    case 'source-document': {
      const { sourceId, mediaType, title, filename } = read(sourceDocument, part, path);
      return { type: 'resource', uri: filename ?? sourceId, mediaType, text: title };
    }
    default: {
      const name = type.startsWith('data-') ? type.slice('data-'.length) : '';
      if (name === '') throw unknown(`${path}.type`, type);
      // Values of one name without an id are separate blocks.
      const { id = path, data: value = null } = read(data, part, path);
      return { type: 'data', id, name, value };
    }
  }
}

function toolOf(part: UIPart, path: string): { call: ToolUseBlock; result: ToolResultBlock | null } {
  const { toolCallId: callId, toolName, state, ...given } = read(tool, part, path);
  const name = toolName ?? part.type.slice('tool-'.length);
  const { input = given.rawInput ?? {}, providerExecuted } = given;
  const call = {
    type: 'tool_use',
    callId,
    name,
    input,
    ...(providerExecuted && { providerExecuted }),
    ...(state === 'output-denied' && { denied: true as const }),
  } as const;
  const result = (output: unknown, isError: boolean): ToolResultBlock => ({
    type: 'tool_result',
    callId,
    name,
    output: output ?? null,
    isError,
  });
  if (state === 'output-available') return { call, result: result(given.output, false) };
  if (state === 'output-error') return { call, result: result(given.errorText, true) };
  if (state === 'output-denied') {
    const reason = given.approval?.reason;
    return { call, result: result(reason === undefined ? 'Denied' : `Denied: ${reason}`, true) };
  }
  return { call, result: null };
}

function read<T>(schema: z.ZodType<T>, part: UIPart, path: string): T {
  const parsed = schema.safeParse(part);
  if (parsed.success) return parsed.data;
  const { path: field, message } = parsed.error.issues[0]!;
  throw fieldError([path, ...field].join('.'), message);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknown(path: string, type: string): GatewayError {
  return fieldError(path, `there is no counterpart of ${JSON.stringify(cut(type, 64))} here`);
}
