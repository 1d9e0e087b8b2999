import { postgresStore } from '../../server/stores/postgres/index.js';
import { PostgresNode } from '../support/postgres-node.js';
import {
  describeWithPostgres,
  newSchema,
  PostgresServer,
  postgresServer,
} from '../support/postgres-server.js';
import { closeLater } from '../support/resources.js';
import { describeGateways } from './on-a-store.js';

const LEASE_MS = 800;

describeWithPostgres('gateways that share a PostgreSQL database', () => {
  describeGateways(async ({ own }) => {
    const server = own
      ? closeLater(await PostgresServer.start({ fsync: 'off' }), (it) => it.remove())
      : await postgresServer();
    const schema = newSchema();
    const options = { schema, leaseMs: LEASE_MS, allowEphemeral: true, pool: { max: 4 } };
    return {
      node: () => PostgresNode.start(server, (url) => postgresStore({ url, ...options })),
      async holder() {
        const rows = await server.sql(`SELECT holder FROM ${schema}.log WHERE closed IS NULL`);
        return String(rows[0]?.holder ?? '');
      },
      stop: () => server.stop('SIGQUIT'),
      run: () => server.run(),
    };
  });
});
