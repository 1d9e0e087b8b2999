import type { Store } from '../store.js';
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.js';

export type { SqliteStoreOptions };

/**
 * Keeps sessions in one SQLite file: the store of a single gateway that survives restarts. Uses `node:sqlite`, or the package
 * `libsql` before Node.js 22.13.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: sqliteStore({ path: 'data/gateway.db' }) });
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  return new SqliteStore(options);
}
