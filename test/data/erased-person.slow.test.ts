import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';
import { APPENDING, describeWithRedis, RedisServer } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import { describeErasedPerson } from './erased-person.js';

/** A file without anything compressed. */
const READABLE = [...APPENDING, '--aof-use-rdb-preamble', 'no'];

describeWithRedis('Redis, after an erasure', () => {
  describeErasedPerson('Redis', async () => {
    const server = closeLater(await RedisServer.start(READABLE), (it) => it.stop());
    return { store: redisStore({ url: server.url }), bytes: () => server.file };
  });
});

describeWithPostgres('PostgreSQL, after an erasure', () => {
  describeErasedPerson('PostgreSQL', async () => {
    const [server, schema] = [await postgresServer(), newSchema()];
    return {
      store: postgresStore({ url: server.url, schema, allowEphemeral: true, pool: { max: 4 } }),
      bytes: () => server.dump(schema),
    };
  });
});
