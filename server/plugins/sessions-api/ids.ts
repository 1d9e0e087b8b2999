import { composeId, partsOfId } from '../../../shared/composed-id.js';
import { formatCursor, parseCursor } from '../../../shared/cursor.js';

const PREFIX = 'sevt_';
const THREAD = 'sthr_';

/** The id of the event of a type that an event of the log becomes, the same for every reader. */
export const eventId = (cursor: string, type: string): string => PREFIX + composeId(cursor, type);

/** The place in the log just before the event of an id; null for an id of none. */
export function placeBefore(id: string): string | null {
  const [cursor = ''] = (id.startsWith(PREFIX) && partsOfId(id.slice(PREFIX.length))) || [];
  const at = parseCursor(cursor);
  return at && formatCursor(at.epoch, at.term, at.seq - 1);
}

/** The thread of a child run, and back. */
export const threadId = (runId: string): string => `${THREAD}${runId}`;
export const runOfThread = (id: string): string => (id.startsWith(THREAD) ? id.slice(THREAD.length) : '');
