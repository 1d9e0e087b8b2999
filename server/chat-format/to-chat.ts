import {
  type ContentBlock,
  type FileBlock,
  type StopReason,
  type ToolUseBlock,
  textOf,
  type Usage,
} from '../../shared/messages.js';
import { namesFile } from '../../shared/names-file.js';
import type { ClientTool } from '../apps/application.js';
import type { ToolOutput } from '../apps/tool.js';
import type {
  ChatFinishReason,
  ChatMessage,
  ChatPart,
  ChatTool,
  ChatToolCall,
  ChatUsage,
} from './chat-types.js';
import { type StoppedMessage, tellOfCuts } from './cut-answers.js';
import { NO_RESULT, type Results, resultsIn, roundsOf, withoutProviderCalls } from './rounds.js';

/**
 * Converts a conversation to chat-completions messages. An answer may contain several steps of a tool loop: each becomes an `assistant`
 * message, followed by the results of its calls. Blocks without a counterpart (reasoning, data) are left out. After a truncated answer, the
 * user's next message says so.
 */
export function toChatMessages(all: readonly StoppedMessage[]): ChatMessage[] {
  const messages = withoutProviderCalls(tellOfCuts(all));
  const results = resultsIn(messages);
  return messages.flatMap(({ role, content }): ChatMessage[] => {
    if (role === 'assistant') return stepsOf(content, results);
    // The results are put behind their calls.
    if (role === 'tool') return [];
    const parts = partsOf(content);
    if (parts.length === 0) return [];
    const [only] = parts;
    return [{ role, content: parts.length === 1 && only?.type === 'text' ? only.text : parts }];
  });
}

function stepsOf(content: readonly ContentBlock[], results: Results): ChatMessage[] {
  return roundsOf(content).flatMap(({ said, calls }): ChatMessage[] => {
    const text = textOf({ content: said });
    if (text === '' && calls.length === 0) return [];
    const tool_calls = calls.length > 0 && { tool_calls: calls.map(toToolCall) };
    // Endpoints refuse a conversation in which a call has no result.
    const told = calls.map((call) => {
      const result = results.get(call);
      return toldOf(result ? result.output : NO_RESULT);
    });
    const shown = told.flatMap(({ parts }) => parts);
    return [
      { role: 'assistant', content: text === '' ? null : text, ...tool_calls },
      ...calls.map(
        ({ callId }, at): ChatMessage => ({ role: 'tool', tool_call_id: callId, content: told[at]!.text }),
      ),
      ...(shown.length > 0 ? [{ role: 'user', content: shown } as const] : []),
    ];
  });
}

/** A result in the model's form. A tool's message has only text, so pictures and files follow as if the user had sent them. */
function toldOf(output: unknown): { readonly text: string; readonly parts: readonly ChatPart[] } {
  const { content, structured } = (output ?? {}) as Partial<ToolOutput>;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const media = blocks.filter(isMedia);
  if (media.length === 0) return { text: resultText(output), parts: [] };
  const said = textOf({ content: blocks });
  const text = [said, structured === undefined ? '' : resultText(structured)].filter(Boolean).join('\n');
  return { text: text || 'The result follows', parts: partsOf(media) };
}

const isObject = (block: unknown): block is ContentBlock => typeof block === 'object' && block !== null;

const isMedia = ({ type }: ContentBlock): boolean => type === 'image' || type === 'audio' || type === 'file';

/** A call in the form of a completion. */
export function toToolCall({
  callId,
  name,
  input,
}: Pick<ToolUseBlock, 'callId' | 'name' | 'input'>): ChatToolCall {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return { id: callId, type: 'function', function: { name, arguments: text } };
}

function resultText(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

function partsOf(content: readonly ContentBlock[]): ChatPart[] {
  const parts: ChatPart[] = [];
  for (const block of content) {
    if (block.type === 'text') parts.push({ type: 'text', text: block.text });
    // Adapters have inlined uploaded files before.
    else if (namesFile(block))
      parts.push({ type: 'text', text: `[${block.name ?? block.mediaType}: not available]` });
    else if (block.type === 'image')
      parts.push({ type: 'image_url', image_url: { url: block.url ?? dataUrl(block) } });
    else if (block.type === 'audio' && block.data !== undefined) {
      const format = /mpeg|mp3/.test(block.mediaType) ? 'mp3' : 'wav';
      parts.push({ type: 'input_audio', input_audio: { data: block.data, format } });
    } else if (block.type === 'file') parts.push(filePart(block));
    else if (block.type === 'resource' && block.text !== undefined)
      parts.push({ type: 'text', text: block.text });
  }
  return parts;
}

/** A file goes inline. A file elsewhere is only named, because there is no field for an address. */
function filePart(file: FileBlock): ChatPart {
  const { name, url, data } = file;
  if (data === undefined && url !== undefined && !url.startsWith('data:')) {
    return { type: 'text', text: name === undefined ? `[File: ${url}]` : `[File ${name}: ${url}]` };
  }
  const file_data = data === undefined && url !== undefined ? url : dataUrl(file);
  return { type: 'file', file: { file_data, ...(name !== undefined && { filename: name }) } };
}

function dataUrl({ mediaType, data = '' }: { readonly mediaType: string; readonly data?: string }): string {
  return `data:${mediaType};base64,${data}`;
}

/** Tools that a model may call. */
export function toChatTools(tools: readonly ClientTool[]): ChatTool[] {
  return tools.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: parameters ?? { type: 'object', properties: {} },
      ...(strict !== undefined && { strict }),
    },
  }));
}

/** The finish reason of a completion for a run's stop reason. */
export function toFinishReason(reason: StopReason): ChatFinishReason {
  if (reason === 'max_tokens') return 'length';
  if (reason === 'moderated') return 'content_filter';
  return reason === 'tool_use' ? 'tool_calls' : 'stop';
}

/** Token counts in the form of a completion; null if the app reported none. The total is always the sum of the others. */
export function toChatUsage(usage: Usage | undefined): ChatUsage | null {
  const { inputTokens, outputTokens } = usage ?? {};
  if (inputTokens === undefined && outputTokens === undefined) return null;
  const [prompt_tokens, completion_tokens] = [inputTokens ?? 0, outputTokens ?? 0];
  const { cachedInputTokens: cached, reasoningTokens: reasoning } = usage!;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(typeof cached === 'number' && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(typeof reasoning === 'number' && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
