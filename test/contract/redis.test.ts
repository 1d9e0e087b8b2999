import { redisStore } from '../../server/stores/redis/index.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { keptStore } from './records.js';
import { redisPlace } from './redis-place.js';
import { describeStore } from './store-contract.js';
import { describeSharedStore } from './store-shared.js';

describeWithRedis('Redis', () => {
  after(endSharedRedis);

  describeStore('redis', async () => {
    const { url } = await sharedRedis();
    const prefix = newPrefix();
    return keptStore(() => redisStore({ url, prefix }));
  });

  describeSharedStore('redis', redisPlace);
});
