import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import { closeLater } from '../support/resources.js';

/** The store of a database, open; it is closed after the test. */
export async function open(path: string): Promise<Store> {
  const store = closeLater(sqliteStore({ path }), (it) => it.close());
  await store.open();
  return store;
}

/** Packs what can be packed, and removes nothing. */
export const pack = (store: Store) => store.expire({ runs: 0, closedLogs: 0 });
