import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import { openStore } from '../support/open-store.js';

/** The store of a database, open; it is closed after the test. */
export async function open(path: string): Promise<Store> {
  return openStore(sqliteStore({ path }));
}

/** Packs what can be packed, and removes nothing. */
export const pack = (store: Store) => store.expire(0);
