import { memoryStore } from '../../server/stores/memory.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { keptStore } from '../../testing/stores/records.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { newDatabase } from '../support/durable.js';
import { reachStore, serveForTests } from '../support/served-store.js';
import { socketPlace } from './socket-place.js';
import { describeSharedStore } from './store-shared.js';

const LEASE_MS = 5000;

describeStore('memory, over a socket', async () => {
  const store = reachStore(await serveForTests(memoryStore(), LEASE_MS));
  return { store, cleanup: () => store.close() };
});

describeStore('sqlite, over a socket', async () => {
  const port = await serveForTests(sqliteStore({ path: newDatabase() }), LEASE_MS);
  return keptStore(() => reachStore(port));
});

describeSharedStore('memory, over a socket', () => socketPlace(memoryStore()));
describeSharedStore('sqlite, over a socket', () => socketPlace(sqliteStore({ path: newDatabase() })));
