import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { fatesByChance, hostileStore } from '../support/hostile-store.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { superseded } from './superseded.js';

/** `SUPERSEDED_SEEDS=200` tries that many on each store. @default 8, and 20 in the weekly run */
const SEEDS = Number(process.env.SUPERSEDED_SEEDS ?? (process.env.DAY === 'all' ? 20 : 8));

function describeEnds(name: string, make: () => Promise<Store> | Store): void {
  it(`says at each end what was streamed (${name}, ${SEEDS} seeds)`, async () => {
    const reasons = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violations, ends } = await superseded(await make(), seed);
      expect(violations, `seed ${seed}`).to.deep.equal([]);
      for (const reason of ends.keys()) reasons.add(reason);
    }
    expect([...reasons]).to.include.members(['end', 'superseded', 'aborted']);
  });
}

describe('answers that are interrupted, aborted, closed and moved away from at any moment', () => {
  describeEnds('memory', memoryStore);
  describeEnds('SQLite', () => sqliteStore({ path: newDatabase() }));
  describeEnds('late SQLite', () => {
    const late = fatesByChance(1, { late: 100 });
    return hostileStore(sqliteStore({ path: newDatabase() }), late).store;
  });

  describeWithRedis('on Redis', () => {
    after(endSharedRedis);
    describeEnds('Redis', async () => redisStore({ url: (await sharedRedis()).url, prefix: newPrefix() }));
  });

  describeWithPostgres('on PostgreSQL', () => {
    describeEnds('PostgreSQL', async () =>
      postgresStore({ url: (await postgresServer()).url, schema: newSchema(), allowEphemeral: true }),
    );
  });
});
