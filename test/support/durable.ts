import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayConfig } from '../../server/config/config.js';
import { type SqliteStoreOptions, sqliteStore } from '../../server/stores/sqlite/index.js';
import { startGateway, type TestGateway } from './gateway.js';
import { tempDir } from './temp-dir.js';

/** A path for a database of a test. */
export function newDatabase(): string {
  return join(tempDir(), 'gateway.db');
}

/**
 * The database as the process would leave it behind if it ended now, in another place: what it has handed to the operating system
 * by now is what a kill leaves.
 */
export function crashed(path: string): string {
  const copy = newDatabase();
  copyFileSync(path, copy);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
  return copy;
}

/** Starts a gateway on a database; it is closed after the test. */
export function startDurable(
  path: string,
  config: GatewayConfig<any, any, any>,
  options: Omit<SqliteStoreOptions, 'path'> = {},
): Promise<TestGateway> {
  return startGateway({ ...config, store: sqliteStore({ path, ...options }) });
}
