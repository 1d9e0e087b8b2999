import { postgresStore } from '../../server/stores/postgres/index.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';
import { keptStore } from './records.js';
import { describeStore } from './store-contract.js';

describeWithPostgres('PostgreSQL', () => {
  describeStore('postgres', async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    return keptStore(() => postgresStore({ url, schema, allowEphemeral: true, pool: { max: 4 } }));
  });
});
