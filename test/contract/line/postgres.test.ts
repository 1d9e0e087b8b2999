import { postgresStore } from '../../../server/stores/postgres/index.js';
import type { Store } from '../../../server/stores/store.js';
import { describeWithPostgres, newSchema, PostgresServer } from '../../support/postgres-server.js';
import { closeLater } from '../../support/resources.js';
import { CutLine } from './cut-line.js';
import { describeMembers } from './describe-members.js';

describeWithPostgres('store contract over a line that breaks: PostgreSQL', () => {
  let server: PostgresServer;
  const schema = newSchema();

  before(async () => {
    server = await PostgresServer.start({ fsync: 'off' });
  });
  after(() => server.remove());

  const opened = async (url: string): Promise<Store> => {
    const store = postgresStore({ url, schema, leaseMs: 1000, allowEphemeral: true, pool: { max: 1 } });
    await store.open();
    return closeLater(store, (it) => it.close());
  };

  describeMembers(() => ({
    refusing: [],
    // Where the answer is lost it says UNAVAILABLE of what may have been made.
    pending: /^(before acquire|after (acquire|release|cut|remove|beginErasure|endErasure|put|drop))/,
    async open() {
      const line = await CutLine.to(server.port);
      const [store, beside] = [await opened(server.urlAt(line.port)), await opened(server.url)];
      return { store, beside, arm: (hit) => line.arm(hit), disarm: () => line.disarm() };
    },
  }));
});
