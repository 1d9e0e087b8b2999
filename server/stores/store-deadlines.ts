import { Deadlines } from '../async/deadlines.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { StoreError, type StoreErrorCode } from './append.js';
import { CHANGES, CHORES, membersOf, READS, type StoreMembers } from './members.js';
import type { Store } from './store.js';

type StoreCall = (...args: never[]) => MaybePromise<unknown>;

/**
 * Wraps a store so that a call fails after so many milliseconds: with `UNKNOWN` if it changes something. Opening, closing, `expire`, `vacuum` and
 * `backup` have no deadline.
 *
 * @param ms `Infinity` waits for ever.
 */
export function withDeadlines(store: Store, ms: number): Store {
  const deadlines = new Deadlines(ms);
  const memberOf = (name: keyof StoreMembers): StoreCall | undefined =>
    (store[name] as StoreCall | undefined)?.bind(store);
  const bound =
    (code: StoreErrorCode) =>
    (name: keyof StoreMembers): StoreCall | undefined => {
      const member = memberOf(name);
      const late = (): StoreError => new StoreError(code, `The store did not answer ${name} within ${ms} ms`);
      return member && ((...args) => deadlines.bound(member(...args), late));
    };
  return {
    get durability() {
      return store.durability;
    },
    ...(store.shared && { shared: store.shared }),
    open: () => store.open(),
    close: () => store.close(),
    ...membersOf(READS, bound('UNAVAILABLE')),
    ...membersOf(CHANGES, bound('UNKNOWN')),
    ...membersOf(CHORES, memberOf),
    watch: (ref, wake) => store.watch(ref, wake),
  };
}
