import type { ContentBlock, Message, ToolResultBlock, ToolUseBlock } from '../../shared/messages.js';

/** The result that a model receives for a call that an abort or a failure left open. */
export const NO_RESULT = 'The tool did not answer';

/** The results of calls that have one. */
export type Results = ReadonlyMap<ToolUseBlock, ToolResultBlock>;

/** The results in a conversation. A call gets the next result with its id that no later call has, because some models reuse their ids. */
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
 * The messages without the calls that a model's provider made. These were answered by the provider within one answer, and mean nothing to
 * another model.
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

/** The messages with a result for every call, because models refuse a conversation in which one is missing. */
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

/** One round of an answer: text, followed by calls that were made at once. */
export interface Round {
  readonly said: Exclude<ContentBlock, ToolUseBlock | ToolResultBlock>[];
  readonly calls: ToolUseBlock[];
}

/** The rounds of an answer. A new round begins behind results, and at text behind a call. */
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

/** Removes reasoning: a provider accepts it back only in its own form. */
export function withoutReasoning(message: Message): Message {
  return { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') };
}
