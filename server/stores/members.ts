import type { Store } from './store.js';

// By what a failure of a member means. What stands between a gateway and a store, a deadline or a line to another process, treats all of
// one kind alike.

/** Change nothing: where one fails, nothing was done, and it may be asked again. */
export const READS = [
  ...(['check', 'read', 'head', 'records', 'conversations', 'run', 'checkpoint', 'messages'] as const),
  ...([
    'replies',
    'pathLength',
    'record',
    'list',
    'count',
    'usage',
    'unfinished',
    'kept',
    'erasures',
  ] as const),
] as const;

/** Change something: where no answer comes, nobody knows whether it was made. */
export const CHANGES = [
  ...(['acquire', 'release', 'append', 'changeRecords', 'takeDue', 'cut', 'remove'] as const),
  ...(['beginErasure', 'endErasure'] as const),
] as const;

/** Go through all there is, for as long as that takes, and can be done again at any time. */
export const CHORES = ['expire', 'vacuum', 'backup'] as const;

type Asked = (typeof READS | typeof CHANGES | typeof CHORES)[number];

/** What of a store is not asked by name. */
type Other = 'durability' | 'files' | 'shared' | 'open' | 'close' | 'watch';

/** A store by its members that are asked. */
export type StoreMembers = Pick<Store, Asked>;

/** Makes each of these members. Those are left out for which there is none. */
export function membersOf<Name extends Exclude<keyof Store, Other>>(
  names: readonly Name[],
  make: (name: Name) => ((...args: never[]) => unknown) | undefined,
): Pick<Store, Name> {
  const made = names.map((name) => [name, make(name)] as const);
  return Object.fromEntries(made.filter(([, member]) => member)) as unknown as Pick<Store, Name>;
}
