import { redisStore } from '../../server/stores/redis/index.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { redisPlace } from './redis-place.js';
import { describeSharedStore } from './store-shared.js';

describeWithRedis('Redis', () => {
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

  describeSharedStore('redis', redisPlace);
});
