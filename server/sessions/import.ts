import { isDeepStrictEqual } from 'node:util';
import type { Message } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import { pathTo } from '../log/message-tree.js';
import type { Session } from './session.js';

/** A conversation from another system. */
export interface Imported {
  /** The messages, each of which follows the one before it. */
  readonly messages: readonly Message[];
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Id of the user who imports it. */
  readonly userId: string;
}

/** The result of an import that was made before with the same message ids; null if the session has other messages. */
export async function importedBefore(
  { id, log }: Session,
  { messages, title, metadata }: Omit<Imported, 'userId'>,
): Promise<(HistoryPlace & { readonly id: string }) | null> {
  if (!log) return null;
  await log.folded();
  const tip = messages.at(-1)?.id ?? null;
  if (tip === null) {
    const { messageCount, title: had, metadata: kept } = log.state;
    const isSame = messageCount === 0 && isDeepStrictEqual([had, kept], [title, metadata]);
    return isSame ? { id, tip, cursor: log.cursorAt(1) } : null;
  }
  const path = await pathTo(log, tip, messages.length + 1);
  // The first event says which messages the session began with.
  return isDeepStrictEqual(path.map(essence), messages.map(essence))
    ? { id, tip, cursor: log.cursorAt(1) }
    : null;
}

function essence({ id, role, content }: Message): unknown {
  return { id, role, content };
}
