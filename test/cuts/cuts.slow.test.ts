import { memoryStore } from '../../server/index.js';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { ENGINES } from '../support/stores.js';
import { describeCuts } from './on-a-store.js';

describeCuts('memory', memoryStore, 3);
describeCuts('SQLite', ENGINES.SQLite, 7);

describeWithRedis('Redis', () => {
  let url = '';
  before(async () => {
    ({ url } = await sharedRedis());
  });
  after(endSharedRedis);
  describeCuts('Redis', () => redisStore({ url, prefix: newPrefix(), durability: 'none' }), 7);
});

describeWithPostgres('PostgreSQL', () => {
  let url = '';
  before(async () => {
    ({ url } = await postgresServer());
  });
  describeCuts(
    'PostgreSQL',
    () => postgresStore({ url, schema: newSchema(), allowEphemeral: true, pool: { max: 4 } }),
    9,
  );
});
