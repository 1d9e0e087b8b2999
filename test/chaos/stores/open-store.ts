import type { Store } from '../../../server/stores/store.js';
import type { StoreSpec } from './store-under-test.js';

/** Opens the store of a chaos test in a gateway's process. */
export async function openStore({ kind, host, port, leaseMs, options }: StoreSpec): Promise<Store> {
  switch (kind) {
    case 'redis': {
      const { redisStore } = await import('../../../server/stores/redis/index.js');
      return redisStore({ url: `redis://${host}:${port}`, leaseMs, ...options });
    }
    case 'postgres': {
      const { postgresStore } = await import('../../../server/stores/postgres/index.js');
      return postgresStore({ url: `postgres://postgres@${host}:${port}/postgres`, leaseMs });
    }
  }
}
