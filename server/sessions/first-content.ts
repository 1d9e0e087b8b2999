import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { lastThatFit } from '../log/fit.js';
import type { LogWriter } from '../log/log-writer.js';
import { messageOf, unbranched } from '../log/message-places.js';
import type { FirstMessages } from '../log/message-tree.js';
import { SNAPSHOT_MESSAGES } from '../log/snapshot.js';
import type { Store } from '../stores/store.js';
import type { LogRef, MessageRow } from '../stores/stored.js';
import { assertKept } from './erasures.js';

/** Messages that are read or written at once. Other sessions wait for so many. */
export const SLICE = 100;

/** The first content of a session. */
export interface FirstContent {
  readonly from?: FirstMessages;
  /** The log that is copied. */
  readonly source?: LogRef;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Gives a session without events its first content. Messages become rows, a slice at a time, from the last one back: no path leads to them
 * before the first one is there, which comes in one append with the event that shows them all. If this fails, it may be done again.
 *
 * @throws GatewayError `SESSION_NOT_FOUND` if the log that the messages are copied from was erased meanwhile; `OVERLOADED`
 */
export async function fill(
  writer: LogWriter,
  store: Store,
  { from, source, title, metadata }: FirstContent,
  by: string | undefined,
): Promise<void> {
  if (source) await assertKept(store, source);
  const base = { ts: Date.now(), ...(by !== undefined && { by }) };
  const drafts: EventDraft[] = [];
  let rows: readonly MessageRow[] = [];
  let shown: readonly MessageRow[] = [];
  for await (const slice of from ? slices(store, from) : []) {
    if (rows.length > 0) await writer.commit([], { messages: rows, refusable: true });
    rows = slice;
    if (shown.length < SNAPSHOT_MESSAGES) shown = [...slice, ...shown].slice(-SNAPSHOT_MESSAGES);
    // A store that answers at once would have all of them written in one turn.
    await new Promise(setImmediate);
  }
  const last = shown.at(-1);
  if (last) {
    const { messages } = lastThatFit(shown.map(messageOf), writer.view.pageBytes);
    drafts.push({ type: 'history_moved', ...base, tip: last.id, messageCount: last.depth, messages });
  }
  if (title !== undefined || metadata) drafts.push({ type: 'session_updated', ...base, title, metadata });
  const kept = rows.length > 0 && { messages: rows };
  if (drafts.length > 0) await writer.commit(drafts, { ...kept, refusable: true });
}

/** The first messages as rows, by slices, the last one first. */
async function* slices(
  store: Store,
  { log, tip, messages }: FirstMessages,
): AsyncGenerator<readonly MessageRow[]> {
  const copied = (end: string | null | undefined): MaybePromise<readonly MessageRow[]> =>
    log && end != null ? store.messages(log, { tip: end, limit: SLICE }) : [];
  let rows = await copied(tip);
  let left = rows.at(-1)?.depth ?? 0;
  if (tip !== undefined && left === 0) throw gone();
  for (let end = messages.length; end > 0; end -= SLICE) {
    const start = Math.max(0, end - SLICE);
    const before = left + start + 1;
    yield messages.slice(start, end).map((message, i) => unbranched(message, before + i));
  }
  while (left > 0) {
    if (rows.length === 0) throw gone();
    yield rows.map((row) => unbranched(messageOf(row), row.depth));
    left -= rows.length;
    if (left > 0) rows = await copied(rows[0]!.parentId);
  }
}

const gone = (): GatewayError =>
  new GatewayError({
    code: 'SESSION_NOT_FOUND',
    message: 'The session to fork was deleted while it was copied',
  });
