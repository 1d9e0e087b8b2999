import type { ContentBlock, Message, ToolUseBlock } from '../../../shared/messages.js';

/** What a former process left of an answer. */
export interface Remains {
  /** The steps that were begun; not the text of one that was cut off, which the model is asked for again. */
  readonly content: readonly ContentBlock[];
  /** The calls among them that have no result. */
  readonly open: readonly ToolUseBlock[];
}

/** Sorts an answer that a run goes on with. */
export function remainsOf({ content }: Pick<Message, 'content'>): Remains {
  const isCall = ({ type }: ContentBlock): boolean => type === 'tool_use' || type === 'tool_result';
  const answered = new Set(content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])));
  return {
    content: content.slice(0, content.findLastIndex(isCall) + 1),
    open: content.filter((block) => block.type === 'tool_use').filter(({ callId }) => !answered.has(callId)),
  };
}
