import type { ContentBlock, Message, ToolResultBlock, ToolUseBlock } from '../../shared/messages.js';

/** What a model is told of a call that an abort or a failure left without a result. */
export const NO_RESULT = 'The tool did not answer';

/** The result of each call that has one. */
export type Results = ReadonlyMap<ToolUseBlock, ToolResultBlock>;

/** The results in a conversation: of each call the next one with its id that no later call has, because some models use their ids again. */
export function resultsIn(messages: readonly Pick<Message, 'content'>[]): Results {
  const later = new Map<string, ToolResultBlock[]>();
  const results = new Map<ToolUseBlock, ToolResultBlock>();
  const blocks = messages.flatMap(({ content }) => content);
  for (const block of blocks.reverse()) {
    if (block.type === 'tool_result') later.set(block.callId, [...(later.get(block.callId) ?? []), block]);
    if (block.type !== 'tool_use') continue;
    const result = later.get(block.callId)?.shift();
    if (result) results.set(block, result);
  }
  return results;
}

/**
 * The messages without the calls that a model's provider made: they were answered where they were made, within one answer, and mean
 * nothing to another model.
 */
export function withoutProviderCalls<M extends Pick<Message, 'content'>>(
  messages: readonly M[],
): readonly M[] {
  return messages.map((message) => {
    const made = new Set<string>();
    const content = message.content.filter((block) => {
      if (block.type === 'tool_use' && block.providerExecuted) made.add(block.callId);
      return !('callId' in block && made.has(block.callId));
    });
    return made.size === 0 ? message : { ...message, content };
  });
}

/** The messages with a result for every call: models refuse a conversation in which one is missing. */
export function closeOpenCalls(messages: readonly Message[]): Message[] {
  const results = resultsIn(messages);
  return messages.map((message) => {
    if (!message.content.some((block) => isOpen(block, results))) return message;
    const content = message.content.flatMap((block): ContentBlock[] =>
      isOpen(block, results) ? [block, closing(block)] : [block],
    );
    return { ...message, content };
  });
}

function isOpen(block: ContentBlock, results: Results): block is ToolUseBlock {
  return block.type === 'tool_use' && !results.has(block);
}

function closing({ callId, name }: ToolUseBlock): ToolResultBlock {
  return { type: 'tool_result', callId, name, output: NO_RESULT, isError: true };
}

/** One round of an answer: what was said, then what was called at once. */
export interface Round {
  readonly said: Exclude<ContentBlock, ToolUseBlock | ToolResultBlock>[];
  readonly calls: ToolUseBlock[];
}

/** The rounds of an answer. A new one begins behind results, and with what is said behind a call. */
export function roundsOf(content: readonly ContentBlock[]): Round[] {
  const rounds: Round[] = [];
  let open: Round | null = null;
  for (const block of content) {
    if (block.type === 'tool_result') {
      if (open && open.calls.length > 0) open = null;
      continue;
    }
    if (!open || (block.type !== 'tool_use' && open.calls.length > 0)) {
      open = { said: [], calls: [] };
      rounds.push(open);
    }
    if (block.type === 'tool_use') open.calls.push(block);
    else open.said.push(block);
  }
  return rounds;
}

/** Providers take reasoning back in forms of their own only. */
export function withoutReasoning(message: Message): Message {
  return { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') };
}
