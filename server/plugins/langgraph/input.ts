import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { GatewayError } from '../../../shared/errors.js';
import type { OnBusy } from '../../../shared/events.js';
import type { ContentBlock } from '../../../shared/messages.js';
import type { ImportedMessage } from '../../../shared/operation-types.js';
import { idSchema } from '../../../shared/values/schema.js';
import { mediaOf } from '../../chat-format/media.js';
import { fieldError, read } from '../conversation/errors.js';
import { tipOf } from './checkpoints.js';
import type { LangChainMessage } from './messages.js';

const record = z.record(z.string(), z.unknown());

const message = z.looseObject({
  id: idSchema.optional().catch(undefined),
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.unknown().optional(),
  tool_calls: z.array(z.looseObject({ id: z.string(), name: z.string(), args: z.unknown() })).nullish(),
  tool_call_id: z.string().optional(),
  name: z.string().nullish(),
  status: z.string().nullish(),
});

const startSchema = z.looseObject({
  assistant_id: z.string().min(1).optional(),
  input: record.nullish(),
  config: z.looseObject({ configurable: record.optional() }).nullish(),
  metadata: record.nullish(),
  multitaskStrategy: z.string().nullish(),
});

type InputMessage = z.infer<typeof message>;

/** A user's message, and the client's options for its run. */
export interface RunStart {
  readonly app: string | undefined;
  /** The message to answer; null if the existing messages are to be answered. */
  readonly message: { readonly id: string | undefined; readonly content: readonly ContentBlock[] } | null;
  /** The client's messages before it. */
  readonly before: readonly ImportedMessage[];
  /** The message to go on from, null for the beginning; undefined for the last one. */
  readonly parent: string | null | undefined;
  readonly onBusy: Exclude<OnBusy, 'steer'> | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** Further fields of the client: the state's other fields, and the configuration of its run. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined;
}

const STRATEGIES: Readonly<Record<string, Exclude<OnBusy, 'steer'>>> = {
  enqueue: 'queue',
  interrupt: 'interrupt',
  reject: 'reject',
};

/** Reads the start of a run. @throws GatewayError `INVALID_REQUEST` */
export function readStart(params: unknown): RunStart {
  const asked = read(startSchema, params ?? {});
  const { assistant_id: app, input, config, metadata, multitaskStrategy } = asked;
  const onBusy = multitaskStrategy == null ? undefined : STRATEGIES[multitaskStrategy];
  if (multitaskStrategy != null && !onBusy)
    throw fieldError('multitaskStrategy', "must be 'enqueue', 'interrupt' or 'reject'");
  const { messages: given, ...fields } = input ?? {};
  const {
    thread_id: _,
    checkpoint_id,
    checkpoint_ns: __,
    checkpoint_map: ___,
    ...configurable
  } = config?.configurable ?? {};
  const list = listOf(given);
  const at = list.findLastIndex((each) => roleOf(each) === 'user');
  if (input && at < 0) throw fieldError('input.messages', 'there is no message of a user to answer');
  const set = { ...(hasAny(fields) && { state: fields }), ...(hasAny(configurable) && { configurable }) };
  const user = list[at];
  return {
    app,
    message: user ? { id: user.id, content: contentOf(user.content) } : null,
    before: list.slice(0, Math.max(0, at)).flatMap(imported),
    parent: parentOf(checkpoint_id),
    onBusy,
    metadata: metadata ?? undefined,
    parameters: hasAny(set) ? set : undefined,
  };
}

function hasAny(value: object): boolean {
  return Object.keys(value).length > 0;
}

function parentOf(checkpoint: unknown): string | null | undefined {
  if (checkpoint == null) return undefined;
  const tip = tipOf(String(checkpoint));
  if (tip === undefined)
    throw new GatewayError({ code: 'MESSAGE_NOT_FOUND', message: 'There is no such checkpoint' });
  return tip;
}

function listOf(given: unknown, path = 'input.messages'): InputMessage[] {
  const list = given == null ? [] : Array.isArray(given) ? given : [given];
  return list.map((each, at) => {
    if (typeof each === 'string') return { type: 'human', content: each };
    const parsed = message.safeParse(each);
    if (!parsed.success) throw fieldError(`${path}.${at}`, 'is no message');
    return parsed.data;
  });
}

/** Messages that are to be in a thread beside those that it has, and ids of those that are to leave it. */
export interface StateUpdate {
  readonly messages: readonly ImportedMessage[];
  readonly removed: readonly string[];
}

/**
 * Reads the values of a state that is to be updated.
 *
 * @param known The messages of the thread
 * @throws GatewayError `INVALID_REQUEST` for what only a graph has, and for a message that the thread has otherwise
 */
export function readUpdate(
  values: Readonly<Record<string, unknown>> | null | undefined,
  known: readonly LangChainMessage[] = [],
): StateUpdate {
  const { messages: given, ...others } = values ?? {};
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw fieldError(`values.${other}`, 'is no part of a state here, which is its messages');
  const had = new Map(known.map((each) => [each.id, each]));
  const removed: string[] = [];
  const messages = listOf(given, 'values.messages').flatMap((each, at) => {
    const { id } = each;
    if (each.type === 'remove' && id !== undefined) {
      removed.push(id);
      return [];
    }
    const path = `values.messages.${at}`;
    const [said] = imported(each);
    if (!said)
      throw fieldError(path, 'must be said by a human, an AI, a tool or the system, and not be empty');
    const before = id === undefined ? undefined : had.get(id);
    if (!before) return [said];
    const [there] = imported(before as unknown as InputMessage);
    if (!isDeepStrictEqual(there?.content, said.content))
      throw fieldError(path, 'is there already, and cannot be changed');
    return [];
  });
  return { messages, removed };
}

function roleOf({ type, role }: InputMessage): 'user' | 'assistant' | 'system' | 'tool' | undefined {
  switch (type ?? role) {
    case 'human':
    case 'user':
      return 'user';
    case 'ai':
    case 'assistant':
      return 'assistant';
    case 'system':
    case 'developer':
      return 'system';
    case 'tool':
      return 'tool';
    default:
      return undefined;
  }
}

function imported(given: InputMessage): ImportedMessage[] {
  const role = roleOf(given);
  const content = role === 'tool' ? resultIn(given) : [...contentOf(given.content ?? ''), ...callsIn(given)];
  if (role === undefined || content.length === 0) return [];
  return [{ role, content, ...(given.id !== undefined && { id: given.id }) }];
}

const callsIn = ({ tool_calls }: InputMessage): readonly ContentBlock[] =>
  (tool_calls ?? []).map(({ id: callId, name, args: input }) => ({ type: 'tool_use', callId, name, input }));

function resultIn({ tool_call_id: callId, name, status, content: output }: InputMessage): ContentBlock[] {
  if (callId === undefined) return [];
  return [{ type: 'tool_result', callId, name: name ?? 'unknown', output, isError: status === 'error' }];
}

/** The content of a LangChain message. @throws GatewayError `INVALID_REQUEST` */
export function contentOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw fieldError('content', 'must be text or a list of blocks');
  return content.map((block) => blockOf(typeof block === 'object' && block !== null ? block : {}));
}

function blockOf(block: Readonly<Record<string, unknown>>): ContentBlock {
  const { type, text, url, data, name, metadata } = block;
  const mediaType = String(block['mime_type'] ?? block['mimeType'] ?? 'application/octet-stream');
  const named =
    name ?? (metadata as { readonly name?: unknown; readonly filename?: unknown } | undefined)?.name;
  const rest = { mediaType, ...(typeof named === 'string' && { name: named }) };
  switch (type) {
    case 'text':
      return { type, text: String(text ?? '') };
    case 'image_url': {
      const { image_url: image } = block as { readonly image_url?: { readonly url?: string } | string };
      return { type: 'image', ...mediaOf((typeof image === 'string' ? image : image?.url) ?? '', 'image/*') };
    }
    case 'image':
    case 'audio':
    case 'file':
      if (typeof data === 'string') return { type, ...rest, data };
      return {
        type,
        ...mediaOf(String(url ?? ''), mediaType),
        ...(typeof named === 'string' && { name: named }),
      };
    default:
      throw fieldError('content', `there is no block of the type ${String(type)}`);
  }
}
