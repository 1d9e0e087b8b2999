import { cut } from '../../shared/cut.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { ContentBlock, Message } from '../../shared/messages.js';
import { laneOf } from './ending.js';

/** A place in an answer. */
export interface AnswerPlace {
  /** Number of blocks before it. */
  readonly blocks: number;
  /** Characters of the last of them, if that may grow. */
  readonly chars: number;
  /** The kind of that block; null if the next text begins another one. */
  readonly open: 'text' | 'reasoning' | null;
}

/** The place between two blocks. */
export const placeAt = (blocks: number): AnswerPlace => ({ blocks, chars: 0, open: null });

/** The place behind a content. */
export function endOf(content: readonly ContentBlock[]): AnswerPlace {
  const last = content.at(-1);
  if (last?.type !== 'text' && last?.type !== 'reasoning') return placeAt(content.length);
  return { blocks: content.length, chars: last.text.length, open: last.type };
}

/** Content up to a place. */
export function upTo(
  content: readonly ContentBlock[],
  { blocks, chars, open }: AnswerPlace,
): readonly ContentBlock[] {
  const kept = content.slice(0, blocks);
  const last = kept.at(-1);
  if (open && last?.type === open) kept[kept.length - 1] = { ...last, text: cut(last.text, chars) };
  return kept;
}

/** The event that takes an answer back up to a place, by the state of the log just before it. None if nothing is behind it, or the run has ended. */
export function takenBack(state: SessionState, runId: string, place: AnswerPlace): readonly EventDraft[] {
  const lane = laneOf(state, runId);
  const run = state.run?.runId === runId ? state.run : lane?.stopReason === undefined ? lane : undefined;
  const message: Message | undefined = run?.message;
  if (!message) return [];
  const content = upTo(message.content, place);
  const isSame = JSON.stringify(content) === JSON.stringify(message.content);
  return isSame ? [] : [{ type: 'message_replaced', runId, ts: Date.now(), messageId: message.id, content }];
}
