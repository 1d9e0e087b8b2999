import { newEpoch } from '../ids.js';
import { toEntry } from '../log/entry.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { DELETED } from './session.js';

/** Drops everything that is kept of a closed session, and leaves a notice for its readers. False if nothing was dropped. */
export async function deleteClosed(store: Store, ref: SessionRef): Promise<boolean> {
  const epochs = await store.conversations(ref);
  if (epochs.length === 0) {
    // The runs may be kept longer than the logs.
    await store.remove(ref);
    return false;
  }
  if (epochs.length === 1 && (await isNotice(store, ref, epochs[0]!))) return false;
  const epoch = newEpoch();
  const { record } = toEntry({ type: 'session_closed', ts: Date.now(), reason: DELETED });
  await store.remove(ref, { epoch, event: record });
  return (await store.conversations(ref)).includes(epoch);
}

/** Whether a log is the notice that a deleted session left. */
async function isNotice(store: Store, ref: SessionRef, epoch: string): Promise<boolean> {
  const [first] = await store.read({ ...ref, epoch }, 0, 1, 1);
  return (
    first?.type === 'session_closed' && (JSON.parse(first.body) as { reason: string }).reason === DELETED
  );
}
