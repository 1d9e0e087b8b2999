import type { Turn } from '../apps/application.js';
import { idOf } from '../ids.js';

/**
 * The name of the thread, at a framework that remembers, of a branch of a conversation: each branch needs its own. It has the last message that is a later
 * version, or the run of such an answer. A summary begins a thread, which is given it in place of what it covers.
 */
export function branchThread({ session: { id: sessionId, epoch }, history, message }: Turn): string {
  const last = [...history, message].findLast(({ id, versions = [id] }) => versions[0] !== id);
  const named = [history[0]?.compaction?.id, last && (last.runId ?? last.id)];
  return idOf(sessionId, epoch, ...named.filter((id) => id !== undefined));
}
