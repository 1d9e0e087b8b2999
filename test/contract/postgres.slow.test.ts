import { postgresStore } from '../../server/stores/postgres/index.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';
import { describeStore } from './store-contract.js';

describeWithPostgres('PostgreSQL', () => {
  describeStore('postgres', async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    const make = () => postgresStore({ url, schema, allowEphemeral: true, pool: { max: 4 } });
    let store = make();
    return {
      store,
      cleanup: () => store.close(),
      async reopen() {
        await store.close();
        store = make();
        await store.open();
        return store;
      },
    };
  });
});
