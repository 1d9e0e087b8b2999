import { memoryStore } from '../../server/stores/memory.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import { keptStore } from '../../testing/stores/records.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { newDatabase } from '../support/durable.js';
import { type Fate, hostileStore } from '../support/hostile-store.js';

/** What tests have go wrong must be the store's fault and not the wrapper's: with no faults, or none but lateness, it is a store. */
for (const fate of ['do', 'late'] as const satisfies readonly Fate[]) {
  const wrapped = (store: Store): Store => hostileStore(store, () => fate).store;
  const how = fate === 'do' ? 'behind a wrapper without faults' : 'that is late in every method';

  describeStore(`memory, ${how}`, () => {
    const store = wrapped(memoryStore());
    return { store, cleanup: () => store.close() };
  });

  describeStore(`sqlite, ${how}`, () => {
    const path = newDatabase();
    return keptStore(() => wrapped(sqliteStore({ path })));
  });
}
