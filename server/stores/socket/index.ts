import { connect, createServer } from 'node:net';
import { GatewayError } from '../../../shared/errors.js';
import { MAX_DELAY_MS } from '../../async/deadline.js';
import { SocketFile } from '../../sockets/socket-file.js';
import type { Store } from '../store.js';
import { DEFAULT_LEASE_MS, storeOverLine } from './socket-store.js';
import { StoreServer } from './store-server.js';

const SHORTEST_LEASE_MS = 10;

/** Options of `serveStore`. */
export interface ServeStoreOptions {
  /** Path of the Unix socket. Only its owner may have access to its directory. */
  readonly path: string;
  /**
   * How long a silent gateway counts as alive, in milliseconds. A gateway whose process ends counts as dead at once.
   *
   * At least 10. @default 5000
   */
  readonly leaseMs?: number;
}

/** A running `serveStore`. */
export interface ServedStore {
  /** Stops serving, and closes the store. */
  close(): Promise<void>;
}

/**
 * Serves a store of one process, in memory or in an SQLite file, to the other processes of this machine. Their gateways reach it by `socketStore`.
 *
 * @throws GatewayError `ADDRESS_IN_USE` if another process serves there; `INVALID_REQUEST` for an invalid path or `leaseMs`; every error of the store's `open`
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
  if (!(typeof leaseMs === 'number' && leaseMs >= SHORTEST_LEASE_MS && leaseMs <= MAX_DELAY_MS)) {
    const message = `leaseMs must be a number from ${SHORTEST_LEASE_MS} to ${MAX_DELAY_MS}`;
    throw new GatewayError({ code: 'INVALID_REQUEST', message });
  }
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

/** Options of `socketStore`. */
export interface SocketStoreOptions {
  /** Path of the Unix socket on which `serveStore` serves the store. */
  readonly path: string;
}

/**
 * The store that another process of this machine serves by `serveStore`. Any number of gateways may use it, and each serves every client of every
 * session.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: socketStore({ path: 'data/gateway.sock' }) });
 * ```
 */
export function socketStore({ path }: SocketStoreOptions): Store {
  return storeOverLine(() => connect(path));
}
