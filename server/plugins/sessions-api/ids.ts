import { composeId, partsOfId } from '../../../shared/composed-id.js';
import { parseCursor } from '../../../shared/cursor.js';

const PREFIX = 'sevt_';
const THREAD = 'sthr_';

/** The id of the event number `count` of a run, the same for every reader. */
export const eventId = (...parts: readonly (string | number)[]): string => PREFIX + composeId(...parts);

/** The run and the number that an id names; null for an id of none. */
export function placeOf(id: string): { readonly runId: string; readonly count: number } | null {
  const [runId, count, ...more] = (id.startsWith(PREFIX) && partsOfId(id.slice(PREFIX.length))) || [];
  const isOne = runId !== undefined && /^\d{1,9}$/.test(count ?? '') && more.length === 0;
  return isOne ? { runId, count: Number(count) } : null;
}

/** The place in the log of an event of the session itself; null for other ids. */
export function cursorIn(id: string): string | null {
  const [kind, cursor] = (id.startsWith(PREFIX) && partsOfId(id.slice(PREFIX.length))) || [];
  return kind === 'at' && cursor !== undefined && parseCursor(cursor) ? cursor : null;
}

/** The thread of a child run, and back. */
export const threadId = (runId: string): string => `${THREAD}${runId}`;
export const runOfThread = (id: string): string => (id.startsWith(THREAD) ? id.slice(THREAD.length) : '');
