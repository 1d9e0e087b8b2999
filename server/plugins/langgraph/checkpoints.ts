import type { Message } from '../../../shared/messages.js';

/** A place in a conversation that a client can go back to, behind one of its messages. */
export interface ThreadCheckpoint {
  readonly id: string;
  readonly parent_id?: string;
  readonly step: number;
  readonly source: 'input' | 'loop';
  readonly [name: string]: unknown;
}

/** Ids of checkpoints sort by time as text, because clients compare them that way. */
export function checkpointId(ts: number, tip: string | null): string {
  return `${String(ts).padStart(15, '0')}-${tip ?? ''}`;
}

/** The message before a checkpoint; null for the beginning, undefined for an invalid id. */
export function tipOf(id: string): string | null | undefined {
  const match = /^\d{15}-(.*)$/s.exec(id);
  return match ? match[1]! || null : undefined;
}

/** The time when a message was settled. */
export function settledAt({ endedAt, createdAt }: Message): number {
  return endedAt ?? createdAt;
}

/**
 * The checkpoint at the end of a conversation.
 *
 * @param isAnswering Whether an unfinished answer follows the messages. Its checkpoint's parent is then the place where it began
 */
export function checkpointOf(
  messages: readonly Message[],
  ts: number,
  isAnswering: boolean,
): ThreadCheckpoint {
  const tip = messages.at(-1);
  const id = checkpointId(ts, tip?.id ?? null);
  const step = messages.length;
  if (isAnswering && tip) return { id, parent_id: placeBehind(tip), step: step + 1, source: 'loop' };
  const source = tip?.role === 'user' ? 'input' : 'loop';
  const before = messages.at(-2);
  if (tip) return { id, parent_id: before ? placeBehind(before) : beginning(tip), step, source };
  return { id, step, source };
}

/** The id of the checkpoint behind a message. */
export function placeBehind(message: Message): string {
  return checkpointId(settledAt(message), message.id);
}

function beginning({ parentId }: Message): string {
  return checkpointId(0, parentId ?? null);
}
