import type { Store } from '../stores/store.js';
import { DEAD } from './dead.js';
import { DONE } from './due-kind.js';
import type { DueWorker } from './due-worker.js';

/** Drops the records of these kinds when they are due, and those of given-up work: they are only remembered for a time. */
export function forgetWhenDue(
  due: DueWorker,
  store: Pick<Store, 'changeRecords'>,
  kinds: readonly string[],
): void {
  for (const kind of [...kinds, DEAD])
    due.on(kind, {
      async do({ home, id, token }) {
        await store.changeRecords(home, [{ kind, id, token }], { mayRepeat: true });
        return DONE;
      },
      attempts: Number.POSITIVE_INFINITY,
    });
}
