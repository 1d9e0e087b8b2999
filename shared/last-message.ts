import type { SessionState } from './fold.js';

/**
 * Id of the message that a further one comes behind: the last one that waits, else the answer that is being given, else the last one that is
 * shown; null for none.
 */
export function lastMessage({ queue, run, tip }: Pick<SessionState, 'queue' | 'run' | 'tip'>): string | null {
  return queue.at(-1)?.message.id ?? run?.message.id ?? tip;
}
