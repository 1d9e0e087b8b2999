import type { Store } from './store.js';

// The members of a store, grouped by the meaning of a failure. A deadline treats all members of a group alike.

/** Members that change nothing: after a failure a call may be repeated. */
export const READS = [
  ...(['check', 'read', 'head', 'records', 'conversations', 'run', 'openRuns', 'checkpoint'] as const),
  ...([
    'messages',
    'replies',
    'record',
    'list',
    'search',
    'count',
    'usage',
    'unfinished',
    'kept',
    'scopes',
  ] as const),
] as const;

/** Members that change something: without an answer, nobody knows whether the change was made. */
export const CHANGES = [
  ...(['acquire', 'release', 'append', 'changeRecords', 'takeDue', 'cut', 'remove'] as const),
] as const;

/** Members that go through the whole store, however long that takes, and can be repeated at any time. */
export const CHORES = ['expire', 'vacuum', 'backup'] as const;

type CalledMember = (typeof READS | typeof CHANGES | typeof CHORES)[number];

/** The members that are not called by name. */
type Other = 'durability' | 'files' | 'shared' | 'open' | 'close' | 'watch';

/** The members of a store that are called by name. */
export type StoreMembers = Pick<Store, CalledMember>;

/** Makes each of these members, except those for which `make` returns undefined. */
export function membersOf<Name extends Exclude<keyof Store, Other>>(
  names: readonly Name[],
  make: (name: Name) => ((...args: never[]) => unknown) | undefined,
): Pick<Store, Name> {
  const made = names.map((name) => [name, make(name)] as const);
  return Object.fromEntries(made.filter(([, member]) => member)) as unknown as Pick<Store, Name>;
}
