import * as z from 'zod';
import type { CallAnswer } from '../../../shared/asked-calls.js';
import type { ContentBlock } from '../../../shared/messages.js';
import { fieldError } from '../conversation/errors.js';

const source = z.union([
  z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  z.looseObject({ type: z.literal('text'), data: z.string() }),
  z.looseObject({ type: z.literal('url'), url: z.string() }),
  z.looseObject({ type: z.literal('file'), file_id: z.string() }),
]);
const block = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'document']), source, title: z.string().nullish() }),
  z.looseObject({ type: z.literal('search_result'), title: z.string(), source: z.string() }),
]);
const content = z.union([z.string(), z.array(block)]);
const eventId = z.string().min(1).max(1024);
const metadata = z.record(z.string(), z.string().nullable()).nullish();

const userMessage = z.looseObject({ type: z.literal('user.message'), content });
const result = { content: content.nullish(), is_error: z.boolean().nullish() };

/** An event that a client sends. */
const event = z.union([
  userMessage,
  z.looseObject({ type: z.literal('user.interrupt'), session_thread_id: z.string().nullish() }),
  z.looseObject({
    type: z.literal('user.tool_confirmation'),
    tool_use_id: eventId,
    result: z.enum(['allow', 'deny']),
    deny_message: z.string().nullish(),
  }),
  z.looseObject({ type: z.literal('user.custom_tool_result'), custom_tool_use_id: eventId, ...result }),
  z.looseObject({ type: z.literal('user.tool_result'), tool_use_id: eventId, ...result }),
]);

/** Bodies of the routes. Clients may send further fields. */
export const BODIES = {
  create: z.looseObject({
    agent: z.union([z.string().min(1), z.looseObject({ id: z.string().min(1) })]),
    title: z.string().min(1).nullish(),
    metadata,
    initial_events: z.array(userMessage).max(100).nullish(),
  }),
  update: z.looseObject({ title: z.string().min(1).nullish(), metadata }),
  events: z.looseObject({ events: z.array(event).min(1).max(100) }),
} as const;

/** An event that a client sends. */
export type GivenEvent = z.infer<typeof event>;
type GivenContent = z.infer<typeof content>;

/** The blocks of a message. @throws GatewayError `INVALID_REQUEST` */
export function blocksOf(given: GivenContent): ContentBlock[] {
  if (typeof given === 'string') return [{ type: 'text', text: given }];
  return given.map((part): ContentBlock => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type === 'search_result') throw fieldError('content', 'a message has no search results');
    const { source, title } = part;
    const type = part.type === 'image' ? 'image' : 'file';
    const name = typeof title === 'string' && { name: title };
    const unknown = type === 'image' ? 'image/*' : 'application/octet-stream';
    if (source.type === 'base64') return { type, mediaType: source.media_type, data: source.data, ...name };
    if (source.type === 'url') return { type, mediaType: unknown, url: source.url, ...name };
    if (source.type === 'text')
      return { type, mediaType: 'text/plain', data: Buffer.from(source.data).toString('base64'), ...name };
    throw fieldError('content', 'files of the vendor are not here: send their bytes or their address');
  });
}

/** The answer that an event gives to a call. */
export function answerOf(
  given: Exclude<GivenEvent, { type: 'user.message' } | { type: 'user.interrupt' }>,
): CallAnswer {
  if (given.type === 'user.tool_confirmation') {
    const { result, deny_message: reason } = given;
    return {
      kind: 'confirmation',
      approved: result === 'allow',
      ...(reason != null && { reason }),
    };
  }
  const { content: said = '', is_error: isError } = given;
  const parts = typeof said === 'string' ? [{ type: 'text', text: said } as const] : (said ?? []);
  const isText = parts.every((part) => part.type === 'text');
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (isError) return { kind: 'failure', reason: text };
  return { kind: 'output', output: isText ? text : parts };
}
