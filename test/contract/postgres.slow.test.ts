import { postgresStore } from '../../server/stores/postgres/index.js';
import { keptStore } from '../../testing/stores/records.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';

describeWithPostgres('PostgreSQL', () => {
  describeStore('postgres', async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    return keptStore(() => postgresStore({ url, schema, allowEphemeral: true, pool: { max: 4 } }));
  });
});
