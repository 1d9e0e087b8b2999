import { redisPlace } from '../../cluster/redis-place.js';
import { describeWithRedis, endSharedRedis } from '../../support/redis-server.js';
import { describePulled } from './pull-anywhere.js';

describeWithRedis('work that processes ask for, of several gateways on one Redis', () => {
  after(endSharedRedis);

  describePulled(() => redisPlace({}));
});
