import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai';
import type { ContentBlock, MessageInput, Role } from '../../../shared/messages.js';
import { parseUrl } from '../../../shared/parse-url.js';
import { fromModelOutput, mediaKind } from './tool-output.js';

type ModelMessagePart =
  | Exclude<AssistantModelMessage['content'], string>[number]
  | Exclude<UserModelMessage['content'], string>[number]
  | ToolModelMessage['content'][number];

/**
 * Converts messages of the AI SDK to messages of a session. The steps of one answer (assistant, tool, assistant, …) become one message.
 * Provider options and approvals are left out: a session has its own confirmations.
 */
export function fromModelMessages(messages: readonly ModelMessage[]): MessageInput[] {
  const written: { role: Role; content: ContentBlock[] }[] = [];
  let previous: ModelMessage['role'] | null = null;
  for (const { role, content } of messages) {
    const blocks: ContentBlock[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content.flatMap(toBlocks);
    const last = written.at(-1);
    const goesOn = role === 'tool' || (role === 'assistant' && previous === 'tool');
    if (goesOn && (last?.role === 'assistant' || last?.role === role)) last.content.push(...blocks);
    else written.push({ role, content: blocks });
    previous = role;
  }
  return written;
}

function toBlocks(part: ModelMessagePart): ContentBlock[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text }];
    case 'image':
      return [toMedia(part.image, part.mediaType ?? 'image/*')];
    case 'file':
      return [toMedia(part.data, part.mediaType, part.filename)];
    case 'tool-call':
      return [{ type: 'tool_use', callId: part.toolCallId, name: part.toolName, input: part.input }];
    case 'tool-result': {
      const { toolCallId: callId, toolName: name, output } = part;
      return [{ type: 'tool_result', callId, name, ...fromModelOutput(output) }];
    }
    default:
      return [];
  }
}

function toMedia(
  content: string | URL | Uint8Array | ArrayBuffer,
  mediaType: string,
  name?: string,
): ContentBlock {
  const named = { mediaType, ...(name !== undefined && { name }) };
  const type = mediaKind(mediaType);
  if (content instanceof URL) return { type, ...named, url: content.href };
  if (typeof content === 'string')
    return parseUrl(content) ? { type, ...named, url: content } : { type, ...named, data: content };
  return { type, ...named, data: Buffer.from(content as Uint8Array).toString('base64') };
}
