import {
  type ContentBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from '../../../shared/messages.js';
import type { ClientTool } from '../../apps/application.js';
import type { ToolOutput } from '../../apps/tool.js';
import { type StoppedMessage, tellOfCuts } from '../../chat-format/cut-answers.js';
import {
  NO_RESULT,
  type Results,
  resultsIn,
  roundsOf,
  withoutProviderCalls,
} from '../../chat-format/rounds.js';
import { isPlainObject } from '../../schema/schema.js';
import { isSaid, type ShownBlock, shownOf } from '../anthropic-blocks.js';
import type { AnthropicBlock, AnthropicMessage } from './sdk.js';

/** A conversation as a request has it. */
export interface AnthropicConversation {
  /** The system messages that it begins with; absent if there are none. */
  readonly system?: string;
  readonly messages: AnthropicMessage[];
}

type Ids = ReadonlyMap<ToolUseBlock, string>;

/**
 * Converts a conversation to messages of Anthropic's API. An answer may contain several steps of a tool loop: each becomes an `assistant`
 * message, followed by the results of its calls. Blocks without a counterpart (reasoning, data) are left out. After a truncated answer, the
 * user's next message says so. System messages behind the first others are those of a user, because not every model takes them there.
 */
export function toAnthropicMessages(all: readonly StoppedMessage[]): AnthropicConversation {
  const told = withoutProviderCalls(tellOfCuts(all));
  const results = resultsIn(told);
  const ids = fittingIds(told);
  const begins = told.findIndex(({ role }) => role !== 'system');
  const opening = begins === -1 ? told : told.slice(0, begins);
  const system = opening.map(textOf).filter(isSaid).join('\n\n');
  const messages = told.slice(opening.length).flatMap(({ role, content }): AnthropicMessage[] => {
    if (role === 'assistant') return stepsOf(content, results, ids);
    // The results are put behind their calls.
    if (role === 'tool') return [];
    const shown = shownOf(content);
    return shown.length > 0 ? [{ role: 'user', content: shown }] : [];
  });
  // The API refuses a conversation that the model has begun.
  if (messages[0]?.role === 'assistant')
    messages.unshift({ role: 'user', content: '(The conversation begins)' });
  return { ...(system !== '' && { system }), messages };
}

/** Ids that the API takes, each for one call. */
function fittingIds(messages: readonly StoppedMessage[]): Ids {
  const ids = new Map<ToolUseBlock, string>();
  const used = new Set<string>();
  for (const { content } of messages)
    for (const block of content) {
      if (block.type !== 'tool_use') continue;
      const isFit = /^[\w-]{1,64}$/.test(block.callId) && !used.has(block.callId);
      const id = isFit ? block.callId : `call-${ids.size + 1}-of-former`;
      used.add(id);
      ids.set(block, id);
    }
  return ids;
}

function stepsOf(content: readonly ContentBlock[], results: Results, ids: Ids): AnthropicMessage[] {
  return roundsOf(content).flatMap(({ said, calls }): AnthropicMessage[] => {
    const text = textOf({ content: said });
    const made = calls.map(
      (call): AnthropicBlock => ({
        type: 'tool_use',
        id: ids.get(call)!,
        name: call.name.replace(/[^\w-]/g, '_'),
        input: isPlainObject(call.input) ? call.input : { input: call.input },
      }),
    );
    const blocks: AnthropicBlock[] = [...(isSaid(text) ? [{ type: 'text' as const, text }] : []), ...made];
    if (blocks.length === 0) return [];
    // The API refuses a conversation in which a call has no result.
    const told = calls.map((call) =>
      toResult(ids.get(call)!, results.get(call) ?? { output: NO_RESULT, isError: true }),
    );
    return [
      { role: 'assistant', content: blocks },
      ...(told.length > 0 ? [{ role: 'user' as const, content: told }] : []),
    ];
  });
}

/** The result of a call. @param id The call's id as the model knows it */
export function toResult(
  id: string,
  { output, isError }: Pick<ToolResultBlock, 'output' | 'isError'>,
): AnthropicBlock {
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: resultContent(output),
    ...(isError && { is_error: true }),
  };
}

function resultContent(output: unknown): string | ShownBlock[] {
  const { content, structured } = (output ?? {}) as Partial<ToolOutput>;
  const blocks = Array.isArray(content) ? content.filter(isPlainObject) : [];
  const shown = shownOf(blocks as unknown as readonly ContentBlock[]);
  if (!shown.some(({ type }) => type !== 'text'))
    return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  return structured === undefined ? shown : [...shown, { type: 'text', text: JSON.stringify(structured) }];
}

/** A tool that the model may call. */
export const toAnthropicTool = ({ name, description, parameters, strict }: ClientTool): object => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: { type: 'object', ...parameters },
  ...(strict && { strict }),
});
