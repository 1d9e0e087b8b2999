import { GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';
import { namedFiles } from '../files/named-files.js';
import type { LogView } from '../log/log-view.js';
import { type FirstMessages, sourceOf } from '../log/message-tree.js';
import { SLICE } from './first-content.js';

/**
 * The messages of a session with which a fork begins.
 *
 * @param at Id of the last message. @default the last one that is shown
 * @throws GatewayError `MESSAGE_NOT_FOUND`
 */
export async function forkSource(log: LogView, at?: string): Promise<FirstMessages> {
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
export async function filesIn(log: LogView, { tip, messages }: FirstMessages): Promise<readonly string[]> {
  const ids = new Set<string>();
  const add = (part: readonly Message[]): void => {
    for (const { fileId } of namedFiles(part)) ids.add(fileId);
  };
  add(messages);
  for (let end = tip ?? null; end !== null; ) {
    const rows = await log.storedMessages(end, SLICE);
    add(rows);
    await new Promise(setImmediate);
    end = rows[0]?.parentId ?? null;
  }
  return [...ids];
}
