import { postgresStore } from '../../../server/stores/postgres/index.js';
import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import { describeWithPostgres, newSchema, PostgresServer } from '../../support/postgres-server.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';
import { CutLine } from './cut-line.js';
import { describeGateways, type StoresOnALine } from './gateways.js';

const LEASE_MS = 3000;

async function onALine(port: number, storeAt: (port: number) => Store): Promise<StoresOnALine> {
  const line = await CutLine.to(port);
  return {
    store: storeAt(line.port),
    beside: storeAt(port),
    arm: (hit) => line.arm(hit),
    disarm: () => line.disarm(),
  };
}

describeWithRedis('gateways over a line that breaks: Redis', () => {
  let server: RedisServer;
  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());

  describeGateways(() => ({
    open() {
      const prefix = newPrefix();
      return onALine(server.port, (port) =>
        redisStore({ url: `redis://127.0.0.1:${port}`, prefix, leaseMs: LEASE_MS }),
      );
    },
  }));
});

describeWithPostgres('gateways over a line that breaks: PostgreSQL', () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start({ fsync: 'off' });
  });
  after(() => server.remove());

  describeGateways(() => ({
    open() {
      const schema = newSchema();
      return onALine(server.port, (port) =>
        postgresStore({
          ...{ url: `postgres://postgres@127.0.0.1:${port}/postgres`, schema, leaseMs: LEASE_MS },
          ...{ allowEphemeral: true, pool: { max: 1 } },
        }),
      );
    },
  }));
});
