import { postgresStore } from '../../server/stores/postgres/index.js';
import { describeStore } from '../../testing/stores/store-contract.js';
import { describeWithPostgres, newSchema, postgresServer } from '../support/postgres-server.js';

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
