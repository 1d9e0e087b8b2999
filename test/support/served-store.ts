import { connect, createServer } from 'node:net';
import { storeOverLine } from '../../server/stores/socket/socket-store.js';
import { StoreServer } from '../../server/stores/socket/store-server.js';
import type { Store } from '../../server/stores/store.js';
import { portOf } from './host-server.js';
import { openStore } from './open-store.js';
import { closeLater } from './resources.js';

/** Serves a store, as `serveStore` does, on a port: tests have lines to it that break. Until the end of the running test. */
export async function serveForTests(store: Store, leaseMs: number): Promise<number> {
  const server = closeLater(new StoreServer(await openStore(store), leaseMs), (it) => it.close());
  return portOf(createServer((socket) => server.accept(socket)));
}

/** The store that is served there. */
export const reachStore = (port: number): Store => storeOverLine(() => connect(port, '127.0.0.1'));
