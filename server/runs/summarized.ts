import type { Compaction } from '../../shared/compaction/contract.js';
import type { Message } from '../../shared/messages.js';

/** A summary as a message. It has words of users and tools, so it is no instruction of the system. */
export const summaryMessage = (compaction: Compaction): Message => ({
  id: compaction.id,
  role: 'user',
  content: [{ type: 'text', text: compaction.summary }],
  createdAt: compaction.at,
  compaction,
});

/**
 * A path as apps are given it: the last summary on it, and the messages behind that one. None but the summary has a `compaction`.
 *
 * @param counts Whether a summary holds. @default all
 */
export function summarized(
  path: readonly Message[],
  counts: (compaction: Compaction) => boolean = () => true,
): readonly Message[] {
  const at = path.findLastIndex(({ compaction }) => compaction && counts(compaction));
  const tail = path.slice(at + 1);
  const plain = tail.some(({ compaction }) => compaction) ? tail.map(withoutSummary) : tail;
  return at < 0 ? plain : [summaryMessage(path[at]!.compaction!), ...plain];
}

const withoutSummary = ({ compaction: _, ...message }: Message): Message => message;
