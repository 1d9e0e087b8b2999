import { PostgresServer } from '../../support/postgres-server.js';
import type { StartStore } from './store-under-test.js';

/** A PostgreSQL as it is installed: it forgets nothing that it has answered. */
export const postgresUnderTest: StartStore = async () => {
  let server: PostgresServer | null = null;
  let up = false;
  return {
    kind: 'postgres',
    get port() {
      return server!.port;
    },
    get up() {
      return up;
    },
    async start() {
      if (server) await server.run();
      else server = await PostgresServer.start();
      up = true;
    },
    async kill() {
      // All of its processes at once, without a checkpoint: it recovers from its log when it starts.
      await server?.stop('SIGQUIT');
      up = false;
    },
    remove: () => server?.remove(),
  };
};
