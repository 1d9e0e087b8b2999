import type { Usage } from '../messages.js';
import type { ResponseItem } from './types.js';

/** Token counts of a response: the app's report for the run, or else the number of words of input and output. */
export function toResponseUsage(
  usage: Usage | undefined,
  input: readonly ResponseItem[],
  output: readonly ResponseItem[],
): object {
  const input_tokens = usage?.inputTokens ?? wordsIn(input);
  const output_tokens = usage?.outputTokens ?? wordsIn(output);
  return {
    input_tokens,
    output_tokens,
    total_tokens: usage?.totalTokens ?? input_tokens + output_tokens,
    input_tokens_details: { cached_tokens: count(usage?.cachedInputTokens) },
    output_tokens_details: { reasoning_tokens: count(usage?.reasoningTokens) },
  };
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** The words that people or models wrote in items. */
function wordsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + wordsIn(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const {
    text,
    arguments: given,
    input,
    output,
    content,
    summary,
  } = value as Readonly<Record<string, unknown>>;
  return [text, given, input, output].reduce<number>(
    (sum, said) => sum + countWords(said),
    wordsIn(content) + wordsIn(summary),
  );
}

function countWords(text: unknown): number {
  return typeof text === 'string' ? (text.match(/\S+/g)?.length ?? 0) : 0;
}
