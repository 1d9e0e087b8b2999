import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { describeStore } from '../../testing/stores/store-contract.js';

for (const durability of ['normal', 'full'] as const) {
  describeStore(`sqlite, durability ${durability}`, () => {
    const dir = mkdtempSync(join(tmpdir(), 'gateway-'));
    const make = () => sqliteStore({ path: join(dir, 'data', 'gateway.db'), durability });
    let store = make();
    return {
      store,
      async cleanup() {
        await store.close();
        rmSync(dir, { recursive: true, force: true });
      },
      async reopen() {
        await store.close();
        store = make();
        await store.open();
        return store;
      },
    };
  });
}
