import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import { lastThatFit } from '../log/fit.js';
import type { LogWriter } from '../log/log-writer.js';
import { messageOf, unbranched } from '../log/message-places.js';
import { type FirstMessages, pathTo } from '../log/message-tree.js';
import { SNAPSHOT_MESSAGES } from '../log/snapshot.js';
import type { Store } from '../stores/store.js';
import type { LogRef, MessageRow } from '../stores/stored.js';

/** Messages that are read or written at once. Other sessions wait for so many. */
export const SLICE = 100;

/** The first content of a session. */
export interface FirstContent {
  readonly from?: FirstMessages;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Gives a session without events its first content. Messages become rows, a slice at a time. Nobody sees them before the event that shows them
 * all at once. If this fails, it may be done again.
 *
 * @throws GatewayError `SESSION_NOT_FOUND` if the log that the messages are copied from was erased meanwhile; `OVERLOADED`
 */
export async function fill(
  writer: LogWriter,
  store: Store,
  { from, title, metadata }: FirstContent,
  by: string | undefined,
): Promise<void> {
  const base = { ts: Date.now(), ...(by !== undefined && { by }) };
  const drafts: EventDraft[] = [];
  if (from) {
    const copied = from.log && from.tip !== undefined ? await copy(writer, store, from.log, from.tip) : 0;
    await keepAll(writer, from.messages, copied);
    const tip = from.messages.at(-1)?.id ?? from.tip;
    if (tip !== undefined) {
      const { messages } = lastThatFit(
        await pathTo(writer.view, tip, SNAPSHOT_MESSAGES),
        writer.view.pageBytes,
      );
      const messageCount = copied + from.messages.length;
      drafts.push({ type: 'history_moved', ...base, tip, messageCount, messages });
    }
  }
  if (title !== undefined || metadata) drafts.push({ type: 'session_updated', ...base, title, metadata });
  if (drafts.length > 0) await writer.commit(drafts, { refusable: true });
}

/** Copies the path to a message of another log, from its end. Returns its length. */
async function copy(writer: LogWriter, store: Store, log: LogRef, tip: string): Promise<number> {
  let copied = 0;
  let length = 0;
  for (let end: string | null = tip; end !== null; ) {
    const rows: readonly MessageRow[] = await store.messages(log, { tip: end, limit: SLICE });
    length ||= rows.at(-1)?.depth ?? 0;
    if (rows.length === 0 || copied + rows.length > length) break;
    await keep(
      writer,
      rows.map((row) => unbranched(messageOf(row), row.depth)),
    );
    copied += rows.length;
    end = rows[0]!.parentId ?? null;
  }
  if (copied > 0 && copied === length) return copied;
  throw new GatewayError({ code: 'SESSION_NOT_FOUND', message: 'The session to fork is gone' });
}

/** Keeps messages, of which each follows the one before it. */
async function keepAll(writer: LogWriter, messages: readonly Message[], before: number): Promise<void> {
  for (let i = 0; i < messages.length; i += SLICE)
    await keep(
      writer,
      messages.slice(i, i + SLICE).map((message, n) => unbranched(message, before + i + n + 1)),
    );
}

async function keep(writer: LogWriter, messages: readonly MessageRow[]): Promise<void> {
  await writer.commit([], { messages, refusable: true });
  // A store that answers at once would have all of them written in one turn.
  await new Promise(setImmediate);
}
