import type { Store } from '../store.js';
import type { RedisStoreOptions } from './options.js';
import { RedisStore } from './redis-store.js';

export type { RedisStoreOptions };

/**
 * Keeps sessions in Redis or Valkey: the store of any number of gateways, each of which serves every client of every session. Needs the
 * package `@redis/client`.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: redisStore({ url: 'redis://localhost' }) });
 * ```
 * @throws GatewayError `STORE_FAILED` for invalid options
 */
export function redisStore(options: RedisStoreOptions): Store {
  return new RedisStore(options);
}
