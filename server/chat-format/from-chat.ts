import { fieldError, type GatewayError } from '../../shared/errors.js';
import type { ContentBlock, MessageInput, Usage } from '../../shared/messages.js';
import type { AppResult, ClientTool } from '../apps/application.js';
import { parseJson } from '../schema/parse-json.js';
import type { ChatFinishReason, ChatMessage, ChatPart, ChatTool, ChatUsage } from './chat-types.js';
import { mediaOf } from './media.js';

/**
 * Reads the messages of a chat-completions conversation.
 *
 * @throws GatewayError `INVALID_REQUEST` naming a part that has no counterpart here
 */
export function fromChatMessages(messages: readonly ChatMessage[]): MessageInput[] {
  const names = new Map<string, string>();
  return messages.map((message, at) => {
    const path = `messages[${at}].content`;
    switch (message.role) {
      case 'system':
      case 'developer':
        return { role: 'system', content: blocksOf(message.content, path) };
      case 'user':
        return { role: 'user', content: blocksOf(message.content, path) };
      case 'tool': {
        const { tool_call_id: callId, content } = message;
        const name = names.get(callId) ?? 'unknown';
        const output = textOfParts(content);
        return { role: 'tool', content: [{ type: 'tool_result', callId, name, output, isError: false }] };
      }
      case 'assistant': {
        const content = blocksOf(message.content ?? message.refusal ?? '', path);
        for (const { id: callId, function: called } of message.tool_calls ?? []) {
          names.set(callId, called.name);
          const input = readArguments(called.arguments);
          content.push({ type: 'tool_use', callId, name: called.name, input });
        }
        return { role: 'assistant', content };
      }
      default:
        throw refusal(`messages[${at}].role`, 'must be one of system, developer, user, assistant, tool');
    }
  });
}

/** Levels of the arguments of a call, at most: what reads or writes them again may recurse. */
const MAX_LEVELS = 1_000;

/** The arguments of a call: JSON, or the text itself if the model wrote anything else, or JSON that no door takes. */
export function readArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return parseJson(text, MAX_LEVELS);
  } catch {
    return text;
  }
}

/** Reads the tools that a caller offers. */
export function fromChatTools(tools: readonly ChatTool[]): ClientTool[] {
  return tools.map(({ function: { name, description, parameters, strict } }) => ({
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict != null && { strict }),
  }));
}

/** An app's stop reason for the finish reason of a completion. */
export function fromFinishReason(reason: ChatFinishReason | null): NonNullable<AppResult['stopReason']> {
  if (reason === 'length') return 'max_tokens';
  return reason === 'tool_calls' || reason === 'function_call' ? 'tool_use' : 'end';
}

/** The token counts of a completion, for `turn.usage`. */
export function fromChatUsage(usage: ChatUsage): Usage {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const cached = usage.prompt_tokens_details?.cached_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    totalTokens: total_tokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

function textOfParts(content: string | readonly ChatPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function blocksOf(content: string | readonly ChatPart[], path: string): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.map((part, at) => blockOf(part, `${path}[${at}]`));
}

function blockOf(part: ChatPart, path: string): ContentBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'image_url':
      return { type: 'image', ...mediaOf(part.image_url.url, 'image/*') };
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return { type: 'audio', mediaType: format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, data };
    }
    case 'file': {
      const { file_data, file_id, filename } = part.file;
      const unknown = 'application/octet-stream';
      const named = filename !== undefined && { name: filename };
      // The gateway knows the file's type.
      if (file_id !== undefined) return { type: 'file', mediaType: unknown, fileId: file_id, ...named };
      if (file_data === undefined)
        throw refusal(`${path}.file`, 'needs file_data, or the file_id of an uploaded file');
      // Some clients omit the prefix of a data URL.
      const media = /^\w+:/.test(file_data)
        ? mediaOf(file_data, unknown)
        : { mediaType: unknown, data: file_data };
      return { type: 'file', ...media, ...named };
    }
    default:
      throw refusal(`${path}.type`, 'must be one of text, image_url, input_audio, file, refusal');
  }
}

function refusal(path: string, message: string): GatewayError {
  return fieldError(path, message, 'INVALID_REQUEST');
}
