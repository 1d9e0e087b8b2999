import { redisStore } from '../../server/stores/redis/index.js';
import { Line } from '../support/line.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import { describeStore } from './store-contract.js';
import { describeSharedStore, type SharedNode } from './store-shared.js';

const LEASE_MS = 1000;

describeWithRedis('Redis', () => {
  // A Redis that has just begun judges nobody: its members may not be back.
  before(async () => {
    const server = await sharedRedis();
    while (Number(/uptime_in_seconds:(\d+)/.exec(server.cli('info', 'server'))?.[1]) * 1000 < LEASE_MS)
      await new Promise((resolve) => setTimeout(resolve, 50));
  });
  after(endSharedRedis);

  describeStore('redis', async () => {
    const { url } = await sharedRedis();
    const prefix = newPrefix();
    let store = redisStore({ url, prefix });
    return {
      store,
      cleanup: () => store.close(),
      async reopen() {
        await store.close();
        store = redisStore({ url, prefix });
        await store.open();
        return store;
      },
    };
  });

  describeSharedStore('redis', async () => {
    const server = await sharedRedis();
    const prefix = newPrefix();
    const node = async (): Promise<SharedNode> => {
      const line = await Line.to(server.port);
      const store = redisStore({ url: `redis://127.0.0.1:${line.port}`, prefix, leaseMs: LEASE_MS });
      await store.open();
      closeLater(store, (it) => it.close());
      return {
        store,
        kill: () => line.cut(),
        freeze: () => line.cut(),
        thaw: () => line.mend(),
        blink: () => line.blink(),
      };
    };
    return { node, hasClock: true, cleanup: () => {} };
  });
});
