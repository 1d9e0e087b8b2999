import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';

/** The store at an address of Redis or PostgreSQL, or in a file. */
export function storeAt(place: string, leaseMs = 3000): Store {
  if (place.startsWith('redis')) return redisStore({ url: place, leaseMs });
  if (place.startsWith('postgres')) return postgresStore({ url: place, leaseMs });
  return sqliteStore({ path: place });
}
