import { createServer } from 'node:net';
import { StoreServer } from '../../../server/stores/socket/store-server.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';

/** A process that keeps a SQLite file for gateways, as `serveStore` does, on a port: tests have lines to it that break. */
const [directory, port, leaseMs] = process.argv.slice(2);
const store = sqliteStore({ path: `${directory}/sessions.db` });
await store.open();
const server = new StoreServer(store, Number(leaseMs));
createServer((socket) => server.accept(socket)).listen(Number(port), '127.0.0.1', () => console.log('ready'));
