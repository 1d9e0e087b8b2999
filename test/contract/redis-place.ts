import { redisStore } from '../../server/stores/redis/index.js';
import { Line } from '../support/line.js';
import { openStore } from '../support/open-store.js';
import { newPrefix, sharedRedis } from '../support/redis-server.js';
import type { SharedNode, SharedStoreUnderTest } from './shared-place.js';

const LEASE_MS = 1000;

/** A place in the Redis of the tests, of which each node has a line of its own. */
export async function redisPlace(): Promise<SharedStoreUnderTest> {
  const server = await sharedRedis();
  // A Redis that has just begun judges nobody: its members may not be back.
  while (Number(/uptime_in_seconds:(\d+)/.exec(server.cli('info', 'server'))?.[1]) * 1000 < LEASE_MS)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const prefix = newPrefix();
  const node = async (): Promise<SharedNode> => {
    const line = await Line.to(server.port);
    const store = await openStore(
      redisStore({ url: `redis://127.0.0.1:${line.port}`, prefix, leaseMs: LEASE_MS }),
    );
    return {
      store,
      kill: () => line.cut(),
      freeze: () => line.cut(),
      thaw: () => line.mend(),
      blink: () => line.blink(),
    };
  };
  return { node, hasClock: true, cleanup: () => {} };
}
