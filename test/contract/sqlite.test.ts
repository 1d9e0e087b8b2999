import { dirname, join } from 'node:path';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { keptStore } from '../../testing/stores/records.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { newDatabase } from '../support/durable.js';

for (const durability of ['normal', 'full'] as const) {
  describeStore(`sqlite, durability ${durability}`, () => {
    // In a folder that is not there yet.
    const path = join(dirname(newDatabase()), 'data', 'gateway.db');
    return keptStore(() => sqliteStore({ path, durability }));
  });
}
