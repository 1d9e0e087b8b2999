import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { namedFiles } from '../files/named-files.js';
import { lastThatFit } from '../log/fit.js';
import type { LogView } from '../log/log-view.js';
import type { LogWriter } from '../log/log-writer.js';
import { pathTo, sourceOf } from '../log/message-tree.js';
import { SNAPSHOT_MESSAGES } from '../log/snapshot.js';
import type { LogSource } from '../stores/store.js';

/** Messages that are read at once. */
const STEP = 1000;

/**
 * The messages of a session with which a fork begins.
 *
 * @param at Id of the last message. @default the last one that is shown
 * @throws GatewayError `MESSAGE_NOT_FOUND`
 */
export async function forkSource(log: LogView, at?: string): Promise<LogSource> {
  await log.folded();
  const { tip } = log.state;
  const source = await sourceOf(log, at ?? tip);
  if (source) return source;
  throw new GatewayError({
    code: 'MESSAGE_NOT_FOUND',
    message: `This session has no message ${JSON.stringify(at)}`,
    details: { messageId: at, tip },
  });
}

/** Ids of the files that a log names if it begins with these messages. */
export async function filesIn(log: LogView, { tip, messages }: LogSource): Promise<readonly string[]> {
  const ids = new Set<string>();
  const add = (part: readonly Message[]): void => {
    for (const { fileId } of namedFiles(part)) ids.add(fileId);
  };
  add(messages);
  for (let end = tip ?? null; end !== null; ) {
    const rows = await log.storedMessages(end, STEP);
    add(rows);
    end = rows[0]?.parentId ?? null;
  }
  return [...ids];
}

/** Appends the first events of a log that begins with messages, a title or metadata. A reader that starts at the beginning of the log needs them. */
export function tellFirst(writer: LogWriter, by: string | undefined): MaybePromise<unknown> {
  const { view } = writer;
  const { tip, title, metadata } = view.state;
  if (view.head > 0 || (tip === null && title === undefined && !metadata)) return;
  return tell(writer, by);
}

async function tell(writer: LogWriter, by: string | undefined): Promise<void> {
  const { tip, title, metadata } = writer.view.state;
  const base = { ts: Date.now(), ...(by !== undefined && { by }) };
  const updated = title !== undefined || metadata ? { title, metadata } : null;
  await writer.commit(
    [
      ...(tip === null ? [] : [await beginningOf(writer, tip, base)]),
      ...(updated ? [{ type: 'session_updated', ...base, ...updated } as const] : []),
    ],
    { refusable: true },
  );
}

async function beginningOf(
  writer: LogWriter,
  tip: string,
  base: { readonly ts: number; readonly by?: string },
): Promise<EventDraft> {
  const path = await pathTo(writer.view, tip, SNAPSHOT_MESSAGES);
  const { messages } = lastThatFit(path, writer.view.pageBytes);
  const { messageCount } = writer.view.state;
  return { type: 'history_moved', ...base, tip, messageCount, messages };
}
