import { postgresStore } from '../../server/stores/postgres/index.js';
import { LineNode } from '../support/line-node.js';
import { newSchema, PostgresServer, postgresServer } from '../support/postgres-server.js';
import { closeLater } from '../support/resources.js';
import type { Place } from './place.js';

/** As that of Redis. */
const LEASE_MS = 2000;

/** A place in the PostgreSQL of the tests, or in one of the test's own. */
export async function postgresPlace({ own }: { readonly own?: boolean }): Promise<Place> {
  const server = own
    ? closeLater(await PostgresServer.start({ fsync: 'off' }), (it) => it.remove())
    : await postgresServer();
  const schema = newSchema();
  const options = { schema, leaseMs: LEASE_MS, allowEphemeral: true, pool: { max: 4 } };
  return {
    node: () => LineNode.start(server.url, (port) => postgresStore({ url: server.urlAt(port), ...options })),
    async holder() {
      const rows = await server.sql(`SELECT holder FROM ${schema}.log WHERE closed IS NULL`);
      return String(rows[0]?.holder ?? '');
    },
    stop: () => server.stop('SIGQUIT'),
    run: () => server.run(),
  };
}
