import { memoryStore } from '../../server/stores/memory.js';
import { describeStore } from '../../testing/stores/store-contract.js';

describeStore('memory', () => {
  const store = memoryStore();
  return { store, cleanup: () => store.close() };
});
