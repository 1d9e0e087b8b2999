import { MemoryHub } from '../../support/memory-hub.js';
import { describePulled } from './pull-anywhere.js';

describe('work that processes ask for, of several gateways', () => {
  describePulled(async () => {
    const hub = new MemoryHub();
    return { node: async () => hub.node(), holder: async () => hub.holderOf('main') };
  });
});
