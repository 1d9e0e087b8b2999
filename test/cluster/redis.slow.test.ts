import { describeWithRedis, endSharedRedis } from '../support/redis-server.js';
import { describeGateways } from './on-a-store.js';
import { redisPlace } from './redis-place.js';

describeWithRedis('gateways that share a Redis', () => {
  after(endSharedRedis);

  describeGateways(redisPlace);
});
