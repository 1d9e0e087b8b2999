import { redisStore } from '../../server/stores/redis/index.js';
import { keptStore } from '../../testing/stores/records.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { redisPlace } from './redis-place.js';
import { describeLeases } from './store-leases.js';
import { describeSharedStore } from './store-shared.js';

describeWithRedis('Redis', () => {
  after(endSharedRedis);

  describeStore('redis', async () => {
    const { url } = await sharedRedis();
    const prefix = newPrefix();
    return keptStore(() => redisStore({ url, prefix }));
  });

  describeSharedStore('redis', redisPlace);
  describeLeases('redis', redisPlace);
});
