import { formatHistoryCursor, parseHistoryCursor } from '../../shared/cursor.js';
import { fieldError, GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';
import type { HistoryPage } from '../../shared/operation-types.js';
import { lastThatFit } from './fit.js';
import type { LogView } from './log-view.js';
import { pathTo } from './message-tree.js';

/** Messages that are read at once. Reading more may be wasted, because a page also has a size limit. */
const STEP = 16;

/** Bounds of a page: the number of messages, and the size of their JSON. */
export interface PageBounds {
  readonly limit: number;
  readonly bytes: number;
}

/**
 * A page of a folded log's history, up to just before a cursor or, without one, up to its end.
 *
 * @throws GatewayError `CURSOR_GONE` for a cursor of another conversation, `INVALID_PARAMS` for a text that is no cursor
 */
export async function historyPage(
  log: LogView,
  before: string | undefined,
  bounds: PageBounds,
): Promise<HistoryPage> {
  const end = before === undefined ? log.state.tip : await endBefore(before, log);
  const { messages, hasMore } = await boundedPage(log, end, bounds);
  const cursor = hasMore ? formatHistoryCursor(log.ref.epoch, messages[0]!.id) : null;
  return { messages, cursor, hasMore };
}

async function endBefore(before: string, log: LogView): Promise<string | null> {
  const place = parseHistoryCursor(before);
  if (place && place.epoch !== log.ref.epoch) throw new GatewayError({ code: 'CURSOR_GONE' });
  const [message] = place ? await pathTo(log, place.messageId, 1) : [];
  if (message) return message.parentId ?? null;
  throw fieldError('before', 'must be a cursor of this history');
}

/**
 * Up to `limit` messages before and including one, oldest first, as far as they fit a size, but at least one if there is any. Messages that
 * the store has lost do not count as older ones, or clients would ask for them forever.
 */
export async function boundedPage(
  log: LogView,
  tip: string | null,
  { limit, bytes }: PageBounds,
): Promise<Omit<HistoryPage, 'cursor'>> {
  let kept: readonly Message[] = [];
  let left = bytes;
  let end = tip;
  while (end !== null && kept.length < limit) {
    const wanted = Math.min(STEP, limit - kept.length);
    const read = await pathTo(log, end, wanted);
    const { messages, room } = lastThatFit(read, left, kept.length === 0 ? 1 : 0);
    kept = [...messages, ...kept];
    left = room;
    if (messages.length < read.length) break;
    end = read.length < wanted ? null : (read[0]!.parentId ?? null);
  }
  return { messages: kept, hasMore: end !== null };
}
