import type { Store } from '../../server/stores/store.js';
import { closeLater } from './resources.js';

/** Opens a store, which is closed after the test. */
export async function openStore(store: Store): Promise<Store> {
  closeLater(store, (it) => it.close());
  await store.open();
  return store;
}
