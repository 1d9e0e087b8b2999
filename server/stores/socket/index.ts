import { connect, createServer } from 'node:net';
import { SocketFile } from '../../sockets/socket-file.js';
import type { Store } from '../store.js';
import { DEFAULT_LEASE_MS, storeOverLine } from './socket-store.js';
import { StoreServer } from './store-server.js';

/** Where a store is served. */
export interface ServeStoreOptions {
  /** Path of the Unix socket. Its directory must be its owner's alone. */
  readonly path: string;
  /**
   * How long a gateway passes for alive that is not heard of, in milliseconds. One whose process ends is known to be dead at once.
   *
   * @default 5000
   */
  readonly leaseMs?: number;
}

/** A store that is served. */
export interface ServedStore {
  /** Stops serving, and closes the store. */
  close(): Promise<void>;
}

/**
 * Serves a store that one process alone can have, in memory or in an SQLite file, to the other processes of this machine. Their gateways
 * reach it by `socketStore`.
 *
 * @throws GatewayError `ADDRESS_IN_USE` where another process serves there; `INVALID_REQUEST` for a path that cannot be; what `open` of
 * the store throws
 *
 * @example
 * ```ts
 * await serveStore(sqliteStore({ path: 'data/gateway.db' }), { path: 'data/gateway.sock' });
 * ```
 */
export async function serveStore(
  store: Store,
  { path, leaseMs = DEFAULT_LEASE_MS }: ServeStoreOptions,
): Promise<ServedStore> {
  const file = new SocketFile(path, 'path');
  await store.open();
  const server = new StoreServer(store, leaseMs);
  const listening = createServer((socket) => server.accept(socket));
  const stop = async (): Promise<void> => {
    listening.close();
    server.close();
    await store.close();
  };
  try {
    await file.bind(listening);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async close() {
      file.remove();
      await stop();
    },
  };
}

/** Where a store is reached. */
export interface SocketStoreOptions {
  /** Path of the Unix socket on which `serveStore` serves it. */
  readonly path: string;
}

/**
 * The store that another process of this machine serves by `serveStore`: the store of any number of gateways, each of which serves every
 * client of every session.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: socketStore({ path: 'data/gateway.sock' }) });
 * ```
 */
export function socketStore({ path }: SocketStoreOptions): Store {
  return storeOverLine(() => connect(path));
}
