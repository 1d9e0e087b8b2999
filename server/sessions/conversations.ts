import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';

/** The `reason` of the end of a deleted session. */
export const DELETED = 'deleted';

/** Whether any conversation of a session is kept, open or closed, beside the event that a deleted session leaves. */
export async function hasConversations(store: Store, ref: SessionRef): Promise<boolean> {
  const [epoch, ...others] = await store.conversations(ref);
  if (epoch === undefined || others.length > 0) return epoch !== undefined;
  const [first] = await store.read({ ...ref, epoch }, 0, 1, 1);
  const isEnd = first?.type === 'session_closed';
  return !isEnd || (JSON.parse(first.body) as { reason: string }).reason !== DELETED;
}
