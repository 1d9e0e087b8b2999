import type { ContentBlock, Message, Usage } from '../../../shared/messages.js';

/** A message as LangChain writes it in JSON. */
export interface LangChainMessage {
  readonly type: 'human' | 'ai' | 'system' | 'tool';
  readonly id: string;
  readonly content: string | readonly LangChainBlock[];
  readonly name?: string;
  readonly tool_calls?: readonly LangChainCall[];
  readonly tool_call_id?: string;
  readonly status?: 'success' | 'error';
  readonly usage_metadata?: Readonly<Record<string, number>>;
  readonly response_metadata?: Readonly<Record<string, unknown>>;
}

/** A piece of a LangChain message. */
export type LangChainBlock = Readonly<Record<string, unknown>> & { readonly type: string };

/** A call in a LangChain message. */
export interface LangChainCall {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** Messages in LangChain's form. An answer becomes several: the results of calls divide it, and each result is a message of its own. */
export function toLangChain(messages: readonly Message[]): LangChainMessage[] {
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return answer(message);
    if (message.retracted && message.content.length === 0) return [];
    if (message.role === 'tool') return message.content.flatMap((block) => resultOf(block));
    const type = message.role === 'system' ? 'system' : 'human';
    return [{ type, id: message.id, content: contentOf(message.content) }];
  });
}

/** The id of the AI message number `part` of an answer. */
export function partId(answerId: string, part: number): string {
  return part === 0 ? answerId : `${answerId}:${part}`;
}

/** The id of the message that tells the result of a call. */
export function resultId(callId: string): string {
  return `${callId}:result`;
}

/** A result as text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A call in LangChain's form. */
export function callOf({ callId, name, input }: CallLike): LangChainCall {
  return { type: 'tool_call', id: callId, name, args: input ?? {} };
}

interface CallLike {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

function answer({ id, content, usage, stopReason, error }: Message): LangChainMessage[] {
  const messages: LangChainMessage[] = [];
  let part = 0;
  let open: ContentBlock[] = [];
  const close = (): void => {
    if (open.length > 0) messages.push(aiMessage(partId(id, part++), open));
    open = [];
  };
  for (const block of content) {
    if (block.type === 'data') continue;
    if (block.type !== 'tool_result') open.push(block);
    else {
      close();
      messages.push(...resultOf(block));
    }
  }
  close();
  const at = messages.findLastIndex(({ type }) => type === 'ai');
  if (at >= 0) messages[at] = { ...messages[at]!, ...outcome(usage, stopReason, error) };
  return messages;
}

function aiMessage(id: string, blocks: readonly ContentBlock[]): LangChainMessage {
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : []));
  const said = blocks.filter(({ type }) => type !== 'tool_use');
  return { type: 'ai', id, content: contentOf(said), tool_calls: calls };
}

function resultOf(block: ContentBlock): LangChainMessage[] {
  if (block.type !== 'tool_result') return [];
  const { callId, name, output, isError } = block;
  const status = isError ? 'error' : 'success';
  return [
    { type: 'tool', id: resultId(callId), name, tool_call_id: callId, status, content: textOf(output) },
  ];
}

function outcome(
  usage: Usage | undefined,
  stopReason: Message['stopReason'],
  error: Message['error'],
): Pick<LangChainMessage, 'usage_metadata' | 'response_metadata'> {
  const counts = usage && countsOf(usage);
  return {
    ...(counts && { usage_metadata: counts }),
    response_metadata: { ...(stopReason && { finish_reason: stopReason }), ...(error && { error }) },
  };
}

/** Token counts in LangChain's form. */
export function countsOf({ inputTokens = 0, outputTokens = 0, totalTokens }: Usage): Record<string, number> {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: totalTokens ?? inputTokens + outputTokens,
  };
}

function contentOf(blocks: readonly ContentBlock[]): LangChainMessage['content'] {
  return saidContent(blocks.flatMap((block) => blockOf(block)));
}

/** The content of a message. Text alone becomes a string, which every page can show. */
export function saidContent(blocks: readonly LangChainBlock[]): LangChainMessage['content'] {
  return blocks.every(({ type }) => type === 'text') ? blocks.map((block) => block['text']).join('') : blocks;
}

function blockOf(block: ContentBlock): LangChainBlock[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'reasoning':
      return [{ type: 'reasoning', reasoning: block.text }];
    case 'image':
    case 'audio':
    case 'file': {
      const { type, mediaType, name, url, data } = block;
      const named = name !== undefined && { metadata: { name, filename: name } };
      const source = data === undefined ? { url: url ?? '' } : { data };
      return [{ type, mime_type: mediaType, ...source, ...named }];
    }
    default:
      return [];
  }
}
