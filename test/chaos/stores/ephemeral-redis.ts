import { redisKind } from './redis.js';
import { ServerStore } from './server-store.js';
import type { StartStore } from './store-under-test.js';

/** A Redis that writes nothing down: with its process ends all that it had. */
export const ephemeralRedisUnderTest: StartStore = async () =>
  new ServerStore({ ...redisKind(['--appendonly', 'no']), options: { durability: 'none' } });
