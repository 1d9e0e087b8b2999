import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';
import { describeWithRedis, endSharedRedis, newPrefix, sharedRedis } from '../support/redis-server.js';
import { describeEndings, describeGrants } from './on-a-store.js';

describeWithRedis('grants in Redis', () => {
  after(endSharedRedis);
  const place = async () => {
    const { url } = await sharedRedis();
    const prefix = newPrefix();
    return () => redisStore({ url, prefix });
  };
  describeGrants('Redis', async () => (await place())());
  describeEndings('Redis', async () => {
    const store = await place();
    return [store(), store()];
  });
});

describeWithPostgres('grants in PostgreSQL', () => {
  const place = async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    return () => postgresStore({ url, schema, allowEphemeral: true, pool: { max: 4 } });
  };
  describeGrants('PostgreSQL', async () => (await place())());
  describeEndings('PostgreSQL', async () => {
    const store = await place();
    return [store(), store()];
  });
});
