import { MemoryHub } from '../support/memory-hub.js';
import { describeLeases } from './store-leases.js';
import { describeSharedStore } from './store-shared.js';

for (const part of [describeSharedStore, describeLeases])
  part('the model that tests use', () => {
    const hub = new MemoryHub({ leaseMs: 50 });
    return { node: async () => hub.node(), cleanup: () => {} };
  });
