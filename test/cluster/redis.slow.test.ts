import { describeWithRedis, endSharedRedis } from '../support/redis-server.js';
import { whileTheirClockJumps } from './on-a-clock.js';
import {
  describeGateways,
  whileItsServerIsAway,
  whileItsServerIsSilent,
  whileItsServerIsThere,
} from './on-a-store.js';
import { redisPlace } from './redis-place.js';

describeWithRedis('gateways that share a Redis', () => {
  after(endSharedRedis);

  describeGateways(redisPlace, [
    whileItsServerIsThere,
    whileItsServerIsAway,
    whileItsServerIsSilent,
    whileTheirClockJumps,
  ]);
});
