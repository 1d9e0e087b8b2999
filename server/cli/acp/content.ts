import type { ContentBlock as AcpBlock, SessionUpdate } from '@agentclientprotocol/sdk';
import type { ContentBlock, Message } from 'agent-session-gateway/client';

/** Turns a prompt of an editor's user into the content of a message. */
export function fromPrompt(prompt: readonly AcpBlock[]): ContentBlock[] {
  return prompt.map(fromBlock);
}

function fromBlock(block: AcpBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: block.type, mediaType: block.mimeType, data: block.data };
    case 'resource_link':
      return { type: 'resource', uri: block.uri, ...mediaType(block.mimeType) };
    case 'resource': {
      const { uri, mimeType } = block.resource;
      const content =
        'text' in block.resource ? { text: block.resource.text } : { data: block.resource.blob };
      return { type: 'resource', uri, ...mediaType(mimeType), ...content };
    }
  }
}

function mediaType(mimeType: string | null | undefined) {
  return mimeType == null ? {} : { mediaType: mimeType };
}

/** Turns a message of a session into updates for the editor. */
export function toUpdates(message: Message): SessionUpdate[] {
  const { id: messageId, role } = message;
  return message.content.flatMap((block): SessionUpdate[] => {
    if (block.type === 'tool_use') return [called(block)];
    if (block.type === 'tool_result') return [answered(block)];
    if (block.type === 'reasoning') return [chunk('agent_thought_chunk', messageId, block.text)];
    const content = toBlock(block);
    if (!content) return [];
    const sessionUpdate = role === 'assistant' ? 'agent_message_chunk' : 'user_message_chunk';
    return [{ sessionUpdate, messageId, content }];
  });
}

function toBlock(block: ContentBlock): AcpBlock | null {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      if (block.data !== undefined) return { type: block.type, mimeType: block.mediaType, data: block.data };
      return block.url === undefined
        ? null
        : { type: 'resource_link', uri: block.url, name: block.name ?? block.url };
    case 'file':
      return block.url === undefined
        ? null
        : { type: 'resource_link', uri: block.url, name: block.name ?? block.url };
    case 'resource':
      return { type: 'resource_link', uri: block.uri, name: block.uri };
    default:
      return null;
  }
}

/** The update for a piece of an answer. */
export function chunk(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  messageId: string,
  text: string,
): SessionUpdate {
  return { sessionUpdate, messageId, content: { type: 'text', text } };
}

/** The update for a tool call. */
export function called(call: {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}): SessionUpdate {
  const { callId: toolCallId, name: title, input: rawInput } = call;
  return { sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress', rawInput };
}

/** The update for the result of a tool call. */
export function answered(result: {
  readonly callId: string;
  readonly output: unknown;
  readonly isError: boolean;
}): SessionUpdate {
  const { callId: toolCallId, output, isError } = result;
  const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: isError ? 'failed' : 'completed',
    content: [{ type: 'content', content: { type: 'text', text } }],
    rawOutput: output,
  };
}
