import { describeWithRedis, endSharedRedis } from '../support/redis-server.js';
import { redisPlace } from './redis-place.js';
import { describeLeases } from './store-leases.js';

describeWithRedis('Redis', () => {
  after(endSharedRedis);

  describeLeases('redis', redisPlace);
});
