import type { ContentBlock, Message, ToolResultBlock, ToolUseBlock } from '../../shared/messages.js';

/** What a model is told of a call that an abort or a failure left without a result. */
export const CANCELLED = 'The call was cancelled';

/** The tool calls of a message that have no result in it. */
export function openCalls({ content }: Pick<Message, 'content'>): ToolUseBlock[] {
  const answered = new Set(content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])));
  return content.filter(
    (block): block is ToolUseBlock => block.type === 'tool_use' && !answered.has(block.callId),
  );
}

/** The messages with a result for every call: models refuse a conversation in which one is missing. */
export function closeOpenCalls(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    const open = new Set(message.role === 'assistant' ? openCalls(message) : []);
    if (open.size === 0) return message;
    const content = message.content.flatMap((block): ContentBlock[] =>
      block.type === 'tool_use' && open.has(block) ? [block, cancelled(block)] : [block],
    );
    return { ...message, content };
  });
}

function cancelled({ callId, name }: ToolUseBlock): ToolResultBlock {
  return { type: 'tool_result', callId, name, output: CANCELLED, isError: true };
}
