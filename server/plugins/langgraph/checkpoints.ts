import type { Message } from '../../../shared/messages.js';

/** A place in a conversation that a client can go back to: behind one of its messages. */
export interface Checkpoint {
  readonly id: string;
  readonly parent_id?: string;
  readonly step: number;
  readonly source: 'input' | 'loop';
  readonly [name: string]: unknown;
}

/** Ids of places grow with time as texts do, because clients compare them so. */
export function checkpointId(ts: number, tip: string | null): string {
  return `${String(ts).padStart(15, '0')}-${tip ?? ''}`;
}

/** The message behind which a place is; null for the beginning, undefined where it is no id of a place. */
export function tipOf(id: string): string | null | undefined {
  const match = /^\d{15}-(.*)$/s.exec(id);
  return match ? match[1]! || null : undefined;
}

/** When a message was settled. */
export function settledAt({ endedAt, createdAt }: Message): number {
  return endedAt ?? createdAt;
}

/**
 * The place where a conversation is.
 *
 * @param isAnswering Whether an answer is shown behind the messages that is not whole: it is gone back from to where it began
 */
export function checkpointOf(messages: readonly Message[], ts: number, isAnswering: boolean): Checkpoint {
  const tip = messages.at(-1);
  const id = checkpointId(ts, tip?.id ?? null);
  const step = messages.length;
  if (isAnswering && tip) return { id, parent_id: placeBehind(tip), step: step + 1, source: 'loop' };
  const source = tip?.role === 'user' ? 'input' : 'loop';
  const before = messages.at(-2);
  if (tip) return { id, parent_id: before ? placeBehind(before) : beginning(tip), step, source };
  return { id, step, source };
}

/** The place behind a message, whenever it was. */
export function placeBehind(message: Message): string {
  return checkpointId(settledAt(message), message.id);
}

function beginning({ parentId }: Message): string {
  return checkpointId(0, parentId ?? null);
}
