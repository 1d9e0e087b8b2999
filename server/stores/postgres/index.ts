import type { Store } from '../store.js';
import type { PostgresStoreOptions } from './options.js';
import { PostgresStore } from './postgres-store.js';

export type { PostgresStoreOptions };

/**
 * Keeps sessions in a PostgreSQL database, which several gateways may use at once. Each of them serves any client. Uses the package `pg`.
 * docs/cluster.md has the requirements of the gateways and the server.
 *
 * @throws GatewayError `STORE_FAILED` for invalid options
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: postgresStore({ url: 'postgres://gateway@db.example/gateway' }) });
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  return new PostgresStore(options);
}
