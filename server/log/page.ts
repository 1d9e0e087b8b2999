import type { Message } from '../../shared/messages.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { lastThatFit } from './fit.js';
import type { LogView } from './log-view.js';
import { messagePage } from './snapshot.js';

/** Messages that are read at once: what is read and does not fit was read for nothing. */
const STEP = 16;

/** How much a page holds: messages, and the size of their JSON. */
export interface PageBounds {
  readonly limit: number;
  readonly bytes: number;
}

/**
 * Up to `limit` messages of a folded log before the ordinal `before` that fit a size, oldest first; at least one, where there is one. `start` is the
 * ordinal where the page before ends: of rows that the store has lost too, or they would be asked for for ever.
 */
export function boundedPage(
  log: LogView,
  before: number,
  { limit, bytes }: PageBounds,
): MaybePromise<{ readonly messages: readonly Message[]; readonly start: number }> {
  const last = Math.min(before, log.messageCount);
  const first = Math.max(0, last - limit);
  const collect = (end: number, kept: readonly Message[], left: number): ReturnType<typeof boundedPage> => {
    if (end <= first) return { messages: kept, start: first };
    const start = Math.max(first, end - STEP);
    return andThen(messagePage(log, end, end - start), (read) => {
      const { messages, room } = lastThatFit(read, left, kept.length === 0 ? 1 : 0);
      const all = [...messages, ...kept];
      if (messages.length < read.length) return { messages: all, start: end - messages.length };
      return collect(start, all, room);
    });
  };
  return collect(last, [], bytes);
}
