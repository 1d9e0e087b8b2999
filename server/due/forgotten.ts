import type { Store } from '../stores/store.js';
import type { DueWorker } from './due-worker.js';

/** Drops the records of these kinds when they are due: they are only remembered for a time. */
export function forgetWhenDue(
  due: DueWorker,
  store: Pick<Store, 'changeRecords'>,
  kinds: readonly string[],
): void {
  for (const kind of kinds)
    due.on(kind, async ({ home, id, token }) => {
      await store.changeRecords(home, [{ kind, id, token }], { mayRepeat: true });
    });
}
