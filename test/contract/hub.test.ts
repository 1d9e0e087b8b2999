import { MemoryHub } from '../support/memory-hub.js';
import { describeSharedStore } from './store-shared.js';

describeSharedStore('the model that tests use', () => {
  const hub = new MemoryHub({ leaseMs: 50 });
  return { node: async () => hub.node(), cleanup: () => {} };
});
