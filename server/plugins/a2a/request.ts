import * as z from 'zod';
import type { CallAnswer } from '../../../shared/asked-calls.js';
import type { PendingQuestion } from '../../../shared/fold.js';
import type { ContentBlock } from '../../../shared/messages.js';
import { blockTypeOf } from '../../chat-format/media.js';
import { fieldError } from '../conversation/errors.js';

const id = z.string().min(1).max(1024);
const named = z.string().max(1024).nullish();
const amount = z.number().int().min(0).nullish();
const [pageSize, pageToken] = [z.number().int().min(0).max(100).nullish(), z.string().max(2048).nullish()];
const part = z
  .looseObject({ text: z.string(), raw: z.base64(), url: z.url(), data: z.unknown() })
  .partial()
  .extend({ filename: named, mediaType: named })
  .refine((given) => ['text', 'raw', 'url', 'data'].some((kind) => given[kind] !== undefined), {
    error: 'must have text, raw, url or data',
  });

const [secret, scheme] = [z.string().regex(/^[\x21-\x7e]{0,4000}$/), z.string().regex(/^[\w-]{1,64}$/)];
const push = z.looseObject({
  ...{ id: z.string().max(64).nullish(), url: z.string().min(1), token: secret.nullish() },
  authentication: z.looseObject({ scheme, credentials: secret.nullish() }).nullish(),
});

/** A configuration of push notifications. */
export type PushConfig = z.infer<typeof push>;

/** Params of the methods. Clients may send further fields. */
export const PARAMS = {
  send: z.looseObject({
    message: z.looseObject({
      messageId: id,
      contextId: named,
      taskId: named,
      role: z.literal('ROLE_USER'),
      parts: z.array(part).min(1).max(1000),
      metadata: z.record(z.string(), z.unknown()).nullish(),
    }),
    configuration: z
      .looseObject({
        ...{ historyLength: amount, returnImmediately: z.boolean().nullish() },
        taskPushNotificationConfig: push.nullish(),
      })
      .nullish(),
  }),
  task: z.looseObject({ id, historyLength: amount }),
  push: z.looseObject({ taskId: id, id }),
  createPush: push.extend({ taskId: id }),
  listPush: z.looseObject({ taskId: id, pageSize, pageToken }),
  list: z.looseObject({
    contextId: named,
    status: named,
    ...{ pageSize, pageToken },
    historyLength: amount,
    statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
    includeArtifacts: z.boolean().nullish(),
  }),
} as const;

/** A message that a client sends, and how it is to be told. */
export type A2aSend = z.infer<typeof PARAMS.send>;
export type A2aMessage = A2aSend['message'];

/** The blocks of a message. A value is told to the app as its JSON. */
export function blocksOf({ parts }: A2aMessage): ContentBlock[] {
  return parts.map(({ text, raw, url, data, filename, mediaType }): ContentBlock => {
    if (text !== undefined) return { type: 'text', text };
    if (data !== undefined) return { type: 'text', text: JSON.stringify(data) };
    const type = mediaType || 'application/octet-stream';
    const media = { mediaType: type, ...(raw === undefined ? { url: url! } : { data: raw }) };
    return { type: blockTypeOf(type), ...media, ...(filename && { name: filename }) };
  });
}

const decision = z.looseObject({
  callId: id.optional(),
  approved: z.boolean().optional(),
  reason: z.string().optional(),
  output: z.unknown().optional(),
});

/** The answers that a message gives to open questions, by call. @throws GatewayError `INVALID_REQUEST` if it answers none */
export function answersIn(
  { parts }: A2aMessage,
  pending: readonly PendingQuestion[],
): ReadonlyMap<string, CallAnswer> {
  const answers = new Map<string, CallAnswer>();
  for (const [at, { text, data = text }] of parts.entries()) {
    const { callId: to, approved = wordOf(text), reason, output } = decision.safeParse(data).data ?? {};
    const open = pending.find(({ callId }) => !answers.has(callId) && (to ?? callId) === callId);
    if (!open) throw fieldError(`message.parts.${at}`, 'the task asks nothing of this kind');
    const { callId, kind } = open;
    if (kind === 'input') answers.set(callId, { kind: 'output', output: to === undefined ? data : output });
    else if (approved === undefined)
      throw fieldError(
        `message.parts.${at}`,
        'must be { "approved": true }, { "approved": false }, yes or no',
      );
    else answers.set(callId, { kind: 'confirmation', approved, ...(reason !== undefined && { reason }) });
  }
  return answers;
}

/** The decision of an agent that answers in a word; undefined for all other texts. */
function wordOf(text = ''): boolean | undefined {
  if (/^\s*(?:yes|approved?|allow(?:ed)?)\W*$/i.test(text)) return true;
  return /^\s*(?:no|den(?:y|ied)|reject(?:ed)?)\W*$/i.test(text) ? false : undefined;
}
