import { PostgresServer } from '../../support/postgres-server.js';
import { ServerStore } from './server-store.js';
import type { StartStore } from './store-under-test.js';

/** A PostgreSQL as it is installed: it forgets nothing that it has answered. */
export const postgresUnderTest: StartStore = async () =>
  new ServerStore({
    kind: 'postgres',
    first: () => PostgresServer.start(),
    again: (server) => server.run(),
    // All of its processes at once, without a checkpoint: it recovers from its log when it starts.
    end: (server) => server.stop('SIGQUIT'),
    remove: (server) => server.remove(),
  });
