import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import { newTestEpoch, record, refOf, resultOf, TestWriter } from '../../../testing/stores/records.js';
import { openStore } from '../../support/open-store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';

describeWithRedis('Redis, of text that its JSON does not take', () => {
  let server: RedisServer;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());

  it('keeps it as it is: a NUL, half a pair of surrogates, quotes', async () => {
    const odd = 'a\0b\ud800"\\\n';
    const store = await openStore(redisStore({ url: server.url, prefix: newPrefix() }));
    const ref = refOf(odd);
    const writer = await TestWriter.acquire(store, ref, { epoch: newTestEpoch(), userId: odd });
    expect(writer.acquired.record.userId).to.equal(odd);
    const request = JSON.stringify({ odd });
    const about = { title: odd, messageCount: 1, pending: 0 };
    const owned = { kind: odd, id: odd, owner: odd, dueAt: 1, value: request };
    await writer.append([record(1, 'message_accepted')], {
      ...{ opens: { runId: 'run_1', key: odd, hash: 'h', request }, about, records: [owned] },
      steps: [{ runId: 'run_1', number: 1, name: odd }],
    });
    expect((await store.list('alice', { limit: 1 })).records[0]).to.include({ title: odd });
    expect(await store.run(ref, { key: odd })).to.include({ key: odd, request });
    expect(await store.changeRecords(ref, [{ ...owned, token: 0 }])).to.equal(false);
    expect((await store.records({ kind: odd, owner: odd, limit: 1 }))[0]).to.include(owned);
    expect((await store.takeDue({ limit: 1, leaseMs: 1000 })).records[0]).to.include(owned);
    const [left] = (await TestWriter.acquire(store, ref)).acquired.openRuns;
    expect(left?.steps).to.deep.equal([{ runId: 'run_1', number: 1, name: odd }]);
    const ends = [{ runId: 'run_1', result: { ...resultOf('run_1'), error: odd } as never }];
    const again = await TestWriter.acquire(store, ref);
    await again.append([record(2, 'message_end')], { ends });
    expect(await store.run(ref, { key: odd })).to.include({ key: odd });
    expect(await store.run(ref, { runId: 'run_1' })).to.have.nested.property('result.error', odd);
  });
});
