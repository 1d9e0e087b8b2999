import { indexedDbDisk, type StorageLike, storageDisk } from './disk.js';
import { createPersistence, type OfflinePersistence, type PersistOptions } from './persistence.js';

export type { StorageLike } from './disk.js';
export type { Drafts, OfflinePersistence, PersistOptions } from './persistence.js';

/**
 * Keeps shown states and unsent messages of a client in a database of the browser. Give it to one client, as its option `persist`.
 *
 * @example
 * ```ts
 * const persist = indexedDb({ user: 'ada' });
 * const client = createClient({ baseUrl: '/agent', token: auth.token(), persist });
 * ```
 */
export function indexedDb(options: PersistOptions): OfflinePersistence {
  const name = nameOf(options);
  return createPersistence(name, indexedDbDisk(name), options);
}

/**
 * Keeps the same in a storage: React Native's `AsyncStorage`, `localStorage`, or another one with their functions.
 *
 * @example
 * ```ts
 * const persist = storage(localStorage, { user: 'ada' });
 * ```
 */
export function storage(place: StorageLike, options: PersistOptions): OfflinePersistence {
  const name = nameOf(options);
  return createPersistence(name, storageDisk(place, `${name}:`), options);
}

/** One name for each user and client of a page, whatever characters theirs have. */
const nameOf = ({ user, name = 'agent-session-gateway' }: PersistOptions): string =>
  [name, user].map((part) => part.replace(/[%:]/g, encodeURIComponent)).join(':');
