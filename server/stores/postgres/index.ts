import type { Store } from '../store.js';
import type { PostgresStoreOptions } from './options.js';
import { PostgresStore } from './postgres-store.js';

export type { PostgresStoreOptions };

/**
 * Keeps sessions in a PostgreSQL database, which several gateways may use at once: any of them serves any client. Uses the package `pg`.
 * What the gateways need of the server, and it of them, is in docs/cluster.md.
 *
 * @throws GatewayError `STORE_FAILED` for options that cannot be
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: postgresStore({ url: 'postgres://gateway@db.example/gateway' }) });
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  return new PostgresStore(options);
}
