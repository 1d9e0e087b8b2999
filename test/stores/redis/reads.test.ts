import { expect } from 'chai';
import type { RecordQuery } from '../../../server/stores/records.js';
import { redisStore } from '../../../server/stores/redis/index.js';
import { openStore } from '../../support/open-store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';

const HOME = { scope: 'alice' };

describeWithRedis('Redis, of records that it reads', () => {
  let server: RedisServer;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());

  const sent = (): number => Number(/total_net_output_bytes:(\d+)/.exec(server.cli('info', 'stats'))![1]);

  it('sends the values of those that are asked for, and not of all in their home', async () => {
    const store = await openStore(redisStore({ url: server.url, prefix: newPrefix() }));
    const value = JSON.stringify('x'.repeat(2000));
    for (let n = 0; n < 200; n++)
      await store.changeRecords(HOME, [{ kind: n % 2 ? 'owed' : 'told', id: `r${n}`, owner: 'bob', value }]);
    await store.changeRecords(HOME, [{ kind: 'read', id: 'bob', owner: 'bob', value }]);
    const cost = async (query: RecordQuery): Promise<number> => {
      const before = sent();
      const found = await store.records(query);
      const bytes = sent() - before;
      expect(found).to.have.length.above(0);
      return bytes;
    };
    // 201 names of some 20 bytes, and the reply of `info` itself.
    expect(await cost({ home: HOME, kind: 'owed', limit: 1 })).to.be.below(30_000);
    expect(await cost({ home: HOME, kind: 'read', limit: 100 })).to.be.below(30_000);
    expect(await cost({ owner: 'bob', kind: 'read', limit: 100 })).to.be.below(30_000);
    expect(await cost({ home: HOME, kind: 'told', limit: 1000 })).to.be.above(200_000);
  });

  it('pages through records, of which some are dropped meanwhile', async () => {
    const store = await openStore(redisStore({ url: server.url, prefix: newPrefix() }));
    const ids = Array.from({ length: 9 }, (_, n) => `r${n}`);
    await store.changeRecords(
      HOME,
      ids.map((id) => ({ kind: 'k', id, value: '1' })),
    );
    const seen: string[] = [];
    for (let after: { kind: string; id: string } | undefined; ; ) {
      const page = await store.records({ home: HOME, kind: 'k', limit: 2, ...(after && { after }) });
      seen.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last || page.length < 2) break;
      after = { kind: 'k', id: last.id };
      await store.changeRecords(HOME, [{ kind: 'k', id: `r${seen.length}` }]);
    }
    expect(seen).to.deep.equal(['r0', 'r1', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8']);
  });
});
