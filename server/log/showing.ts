import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';

/** The same state with other messages as the end of its path. */
export function showing(state: SessionState, messages: readonly Message[]): SessionState {
  const before = messages.length > 0 ? messages[0]!.parentId : state.tip;
  return { ...state, messages, hasMore: before != null };
}
