import type { SessionState } from './fold.js';

/** Id of the message that a new one follows: the last in the queue, else the answer in progress, else the last shown. Null if there is none. */
export function lastMessage({ queue, run, tip }: Pick<SessionState, 'queue' | 'run' | 'tip'>): string | null {
  return queue.at(-1)?.message.id ?? run?.message.id ?? tip;
}
