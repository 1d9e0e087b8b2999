import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import { record, records, refOf, TestWriter } from '../../../testing/stores/records.js';
import { openStore } from '../../support/open-store.js';
import { startCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';
import { closeLater } from '../../support/resources.js';

const writersOf = (store: Store, count: number): Promise<TestWriter[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => TestWriter.acquire(store, refOf(`s${i}`))));

describeWithRedis('Redis, of appends of one turn of the event loop', () => {
  let server: RedisServer;
  let store: Store;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());
  beforeEach(async () => {
    store = await openStore(redisStore({ url: server.url, prefix: newPrefix() }));
  });

  const scripts = (): number =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(server.cli('info', 'commandstats'))?.[1] ?? 0);

  /** Number of script calls that some work takes. */
  async function callsOf(work: () => Promise<unknown>): Promise<number> {
    const before = scripts();
    await work();
    return scripts() - before;
  }

  it('gets one call for all sessions, each of which gets its own places', async () => {
    const writers = await writersOf(store, 40);
    await Promise.all(writers.map((writer) => writer.append([record(1)])));
    const appended = async () => {
      const results = await Promise.all(writers.map((writer, i) => writer.append(records(2, 2 + (i % 3)))));
      for (const [i, result] of results.entries())
        expect(result).to.deep.equal({ epoch: writers[i]!.log.epoch, first: 2, last: 2 + (i % 3) });
    };
    expect(await callsOf(appended)).to.equal(1);
    for (const [i, writer] of writers.entries())
      expect(await writer.seqs()).to.deep.equal(Array.from({ length: 2 + (i % 3) }, (_, n) => n + 1));
  });

  it('gets several calls for many or long ones, so that no other client waits for long', async () => {
    const writers = await writersOf(store, 300);
    await writers[0]!.append([record(0)]);
    const once = () => Promise.all(writers.map((writer) => writer.append([record(1)])));
    expect(await callsOf(once)).to.equal(2);
    const long = { ...record(2), body: JSON.stringify('x'.repeat(600_000)) };
    const three = writers.slice(0, 3);
    expect(await callsOf(() => Promise.all(three.map((writer) => writer.append([long]))))).to.equal(3);
    for (const writer of three) expect(await writer.seqs(0, 9, 1 << 24)).to.have.length.above(1);
  });

  it('answers each by itself: written, written before, fenced, behind what is missing', async () => {
    const [fine, again, fenced, missing] = (await writersOf(store, 4)) as [
      TestWriter,
      TestWriter,
      TestWriter,
      TestWriter,
    ];
    await again.append(records(1, 2));
    await store.release(refOf('s2'), fenced.term);
    await TestWriter.acquire(store, refOf('s2'), null, 'gw_2');
    const results = await Promise.allSettled([
      fine.append([record(1)]),
      store.append(again.log, records(1, 2), { term: again.term, batch: 1 }),
      fenced.append([record(1)]),
      store.append(missing.log, [record(1)], { term: missing.term, batch: 3 }),
    ]);
    const outcomes = results.map((result) =>
      result.status === 'fulfilled' ? [result.value.first, result.value.last] : result.reason.code,
    );
    expect(outcomes).to.deep.equal([[1, 1], [1, 2], 'FENCED', 'ROLLED_BACK']);
    expect(await again.seqs()).to.deep.equal([1, 2]);
    expect(await fenced.seqs()).to.deep.equal([]);
    expect(await missing.seqs()).to.deep.equal([]);
  });

  it('writes the others where the data of some sessions cannot be written', async () => {
    const prefix = newPrefix();
    const own = await openStore(redisStore({ url: server.url, prefix }));
    const writers = await writersOf(own, 4);
    await writers[1]!.append([record(1)]);
    const keyOf = (letter: string, name: string): string => {
      const found = server.cli('--scan', '--pattern', `${prefix}:*:${letter}:*"${name}"*`).trim().split('\n');
      expect(found).to.have.length(1);
      return found[0]!;
    };
    server.cli('hdel', keyOf('m', 's0'), 'wb');
    server.cli('set', keyOf('e', 's1'), 'no stream');
    const appends = await Promise.allSettled(writers.map((writer) => writer.append([record(2)])));
    expect(appends.map(({ status }) => status)).to.deep.equal([
      ...['rejected', 'rejected', 'fulfilled', 'fulfilled'],
    ]);
    for (const failed of appends.slice(0, 2))
      expect(failed).to.have.nested.property('reason.code', 'UNKNOWN');
  });

  it('fails all of them where Redis has no room, and has written none', async () => {
    const writers = await writersOf(store, 3);
    const used = Number(/used_memory:(\d+)/.exec(server.cli('info', 'memory'))![1]);
    server.cli('config', 'set', 'maxmemory', String(used >> 1));
    const results = await Promise.allSettled(writers.map((writer) => writer.append([record(1)])));
    server.cli('config', 'set', 'maxmemory', '0');
    for (const result of results)
      expect(result).to.have.property('reason').that.includes({ code: 'UNAVAILABLE', isFull: true });
    for (const { log, term } of writers)
      expect(await store.append(log, [record(1)], { term, batch: 1 })).to.include({ first: 1 });
  });

  it('gets calls by partition where it is a Cluster', async () => {
    const [node, ...others] = await startCluster();
    for (const other of others) closeLater(other, (it) => it.stop());
    closeLater(node!, (it) => it.stop());
    const clustered = await openStore(redisStore({ cluster: { nodes: [node!.url] }, prefix: newPrefix() }));
    const writers = await writersOf(clustered, 12);
    const results = await Promise.all(writers.map((writer) => writer.append([record(1)])));
    expect(results.map(({ first }) => first)).to.deep.equal(Array.from({ length: 12 }, () => 1));
  });
});
