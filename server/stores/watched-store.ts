import { andThen } from '../async/maybe-promise.js';
import { type AppendOptions, isPlain } from './append.js';
import type { RecordChange, RecordHome } from './records.js';
import type { Store } from './store.js';
import type { LogRef, StoredEvent } from './stored.js';

/** A write that the store has answered. Pieces of answers, which change nothing but their log, are told to nobody. */
export interface CommittedWrite {
  readonly home: RecordHome | LogRef;
  readonly records: readonly RecordChange[];
  /** The events of an append. */
  readonly events: readonly StoredEvent[];
  /** The options of an append; absent where records alone were changed. */
  readonly append?: AppendOptions;
}

/** Watches what is written to a store. */
export type CommitWatcher = (committed: CommittedWrite) => void;

/**
 * Wraps a store so that its writes are told, in one place for all who watch.
 *
 * @param store Its methods need no `this`
 * @param watchers Read at each write, so that one may be added later
 */
export function watchedStore(store: Store, watchers: readonly CommitWatcher[]): Store {
  const tell = (committed: CommittedWrite): void => {
    for (const watch of watchers) watch(committed);
  };
  return {
    ...store,
    append(log, events, options) {
      const appended = store.append(log, events, options);
      if (isPlain(options)) return appended;
      return andThen(appended, (result) => {
        tell({ home: log, records: options.records ?? [], events, append: options });
        return result;
      });
    },
    changeRecords: (home, changes, options) =>
      andThen(store.changeRecords(home, changes, options), (result) => {
        tell({ home, records: changes, events: [] });
        return result;
      }),
  };
}
