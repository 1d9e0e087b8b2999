import { MemoryHub } from '../support/memory-hub.js';
import { describeGateways, whileItsServerIsThere } from './on-a-store.js';

describe('gateways that share a store in memory', () => {
  describeGateways(async () => {
    const hub = new MemoryHub();
    return { node: async () => hub.node(), holder: async () => hub.holderOf('main') };
  }, [whileItsServerIsThere]);
});
