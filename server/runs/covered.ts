import type { ContentBlock, Message } from '../../shared/messages.js';
import type { Compact, HistorySize } from '../apps/compaction.js';

const DEFAULT = { tokens: 100_000, messages: 800, keep: 10 } as const;

/** Characters of a token, about. */
const PER_TOKEN = 4;

// A message is measured once, however many runs are given it.
const lengths = new WeakMap<Message, number>();

function lengthOf(message: Message): number {
  let length = lengths.get(message);
  if (length === undefined) {
    length = message.content.reduce((sum, block) => sum + lengthIn(block), 0);
    lengths.set(message, length);
  }
  return length;
}

/** Characters of a block that a model is given as text. */
function lengthIn(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length;
  if (block.type === 'resource') return block.text?.length ?? 0;
  if (block.type === 'tool_use') return (JSON.stringify(block.input) ?? '').length;
  if (block.type === 'tool_result') return (JSON.stringify(block.output) ?? '').length;
  return 0;
}

function sizeOf(messages: readonly Message[]): HistorySize {
  const characters = messages.reduce((sum, message) => sum + lengthOf(message), 0);
  return { messages: messages.length, characters, tokens: Math.ceil(characters / PER_TOKEN) };
}

/** Whether a run begins with a summary of its history. */
export function overThreshold(
  { when = {} }: Compact,
  history: readonly Message[],
  message: Message,
): boolean {
  const size = sizeOf([...history, message]);
  if (typeof when === 'function') return when(size, history);
  const isGiven = when.tokens !== undefined || when.messages !== undefined;
  const { tokens, messages = Number.POSITIVE_INFINITY } = isGiven ? when : DEFAULT;
  return size.tokens >= (tokens ?? Number.POSITIVE_INFINITY) || size.messages >= messages;
}

/** The messages of a history that a summary covers, the oldest first. Empty if it would cover nothing new. */
export function lastCovered(
  { when, keep = DEFAULT.keep }: Compact,
  history: readonly Message[],
): readonly Message[] {
  const { tokens = DEFAULT.tokens } = typeof when === 'object' ? when : {};
  let from = history.length;
  let room = (tokens / 4) * PER_TOKEN;
  while (from > 0 && history.length - from < keep) {
    room -= lengthOf(history[from - 1]!);
    if (room < 0) break;
    from -= 1;
  }
  // An answer stays with its question.
  while (from < history.length && history[from]!.role !== 'user') from += 1;
  const covered = history.slice(0, from);
  return covered.some(({ compaction }) => !compaction) ? covered : [];
}
