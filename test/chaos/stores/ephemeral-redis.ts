import { redisKind } from './redis.js';
import { ServerStore } from './server-store.js';
import type { StartStore } from './store-under-test.js';

/**
 * A Redis that writes nothing down: what ends it ends all that it had.
 *
 * @param healMs How long gateways know what they wrote; 0: not at all
 */
export const ephemeralRedisUnderTest =
  (healMs: number): StartStore =>
  async () =>
    new ServerStore({
      ...redisKind(['--appendonly', 'no']),
      options: { allowEphemeral: true, healMs },
    });
