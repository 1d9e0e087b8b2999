import { postgresStore } from '../../server/stores/postgres/index.js';
import { LineNode } from '../support/line-node.js';
import { newSchema, postgresServer } from '../support/postgres-server.js';
import type { SharedStoreUnderTest } from './shared-place.js';

/** A place in the PostgreSQL of the tests. */
export async function postgresPlace(): Promise<SharedStoreUnderTest> {
  const server = await postgresServer();
  const schema = newSchema();
  const nodes: LineNode[] = [];
  return {
    hasClock: true,
    async node() {
      const node = await LineNode.start(server.url, (port) =>
        postgresStore({
          url: server.urlAt(port),
          schema,
          leaseMs: 600,
          allowEphemeral: true,
          pool: { max: 3 },
        }),
      );
      nodes.push(node);
      await node.store.open();
      return node;
    },
    cleanup: () => Promise.all(nodes.map((node) => node.end())),
  };
}
