import { andThen } from '../async/maybe-promise.js';
import type { RecordChange } from '../stores/records.js';
import type { Store } from '../stores/store.js';

/** Wraps a store so that it reports the due times of records written to it. @param store Its methods need no `this` */
export function tellingStore(store: Store, expect: (at: number) => void): Store {
  const told = <T>(changes: readonly RecordChange[], result: T): T => {
    for (const { dueAt, value } of changes) if (dueAt !== undefined && value !== undefined) expect(dueAt);
    return result;
  };
  return {
    ...store,
    append: (log, events, options) => {
      const appended = store.append(log, events, options);
      const { records } = options;
      return records ? andThen(appended, (result) => told(records, result)) : appended;
    },
    changeRecords: (home, changes, options) =>
      andThen(store.changeRecords(home, changes, options), (result) => told(changes, result)),
  };
}
