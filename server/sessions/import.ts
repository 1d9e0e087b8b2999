import { isDeepStrictEqual } from 'node:util';
import type { Message } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import { pathTo } from '../log/message-tree.js';
import type { Session } from './session.js';

/** A conversation of elsewhere. */
export interface Imported {
  /** Each follows the one before it. */
  readonly messages: readonly Message[];
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Who imports it. */
  readonly userId: string;
}

/** What became of an import that had been made before, of messages with ids of their own; null where the session is another one. */
export async function importedBefore(
  { id, log }: Session,
  messages: readonly Message[],
): Promise<(HistoryPlace & { readonly id: string }) | null> {
  if (!log) return null;
  await log.folded();
  const tip = messages.at(-1)!.id;
  const path = await pathTo(log, tip, messages.length + 1);
  // Its first event says what it began with.
  return isDeepStrictEqual(path.map(essence), messages.map(essence))
    ? { id, tip, cursor: log.cursorAt(1) }
    : null;
}

function essence({ id, role, content }: Message): unknown {
  return { id, role, content };
}
