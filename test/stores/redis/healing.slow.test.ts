import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import {
  newTestEpoch,
  record,
  records,
  refOf,
  refusal,
  resultOf,
  TestWriter,
} from '../../../testing/stores/records.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { openStore } from '../../support/open-store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

const opens = (runId: string) => ({ runId, key: `key of ${runId}`, hash: 'h', request: '{}' });

describeWithRedis('Redis that forgets its last moments', () => {
  let server: RedisServer;
  let store: Store;
  let prefix: string;

  const open = async (options: { healMs?: number; leaseMs?: number } = {}): Promise<Store> => {
    return openStore(redisStore({ url: server.url, prefix, ...options }));
  };

  beforeEach(async () => {
    server = closeLater(await RedisServer.start(), (it) => it.stop());
    prefix = newPrefix();
    store = await open();
  });

  it('loses nothing where it ends and comes back', async () => {
    const writer = await TestWriter.acquire(store, refOf());
    for (let i = 1; i <= 20; i++) await writer.append([record(i)]);
    await server.end();
    const appended = writer.append([record(21)]);
    await server.begin();
    expect(await appended).to.include({ first: 21 });
    expect(await writer.seqs()).to.have.length(21);
  });

  it('is told again what it has forgotten, with the next append', async () => {
    const writer = await TestWriter.acquire(store, refOf());
    await writer.append([record(1, 'message_accepted')], { opens: opens('run_1') });
    const { written } = server;
    await writer.append([record(2)], { steps: [{ runId: 'run_1', number: 1, name: 'a', outcome: '{}' }] });
    const activity = { status: 'waiting', runId: 'run_1', start: 0, queued: 0 } as const;
    await writer.append(records(3, 4), { activity, about: { messageCount: 3, pending: 1 } });
    const end = { ...record(5, 'message_end'), runId: 'run_1' };
    await writer.append([end], { ends: [{ runId: 'run_1', result: resultOf('run_1') }] });
    await writer.append([record(6, 'message_accepted')], { opens: opens('run_2') });
    const before = [
      await store.head(refOf()),
      await store.record(refOf()),
      await store.read(writer.log, 0, 99, 9999),
    ];
    await server.forget(written);
    expect(await writer.append([record(7)])).to.include({ first: 7, last: 7 });
    const after = [
      await store.head(refOf()),
      await store.record(refOf()),
      await store.read(writer.log, 0, 6, 9999),
    ];
    expect(after[0]).to.deep.equal({ ...(before[0] as object), head: 7 });
    expect(after.slice(1)).to.deep.equal(before.slice(1));
    expect(await store.run(refOf(), { key: 'key of run_1' })).to.have.nested.property(
      'result.stopReason',
      'end',
    );
    const next = await TestWriter.acquire(store, refOf(), null);
    expect(next.acquired.openRuns.map(({ runId }) => runId)).to.deep.equal(['run_2']);
  });

  it('is told again without an append, when the store reaches it', async () => {
    const writer = await TestWriter.acquire(store, refOf());
    await writer.append(records(1, 2));
    const { written } = server;
    await writer.append(records(3, 9));
    await server.forget(written);
    const other = await open();
    let head = 0;
    closeLater(
      other.watch(refOf(), async () => {
        head = (await other.head(refOf()))!.head;
      }),
      (stop) => stop(),
    );
    await until(() => head === 9);
    expect(await other.read(writer.log, 0, 99, 9999)).to.have.length(9);
  });

  /** A store of its own, over a line that can be cut. */
  const through = async () => {
    const proxy = await CuttingProxy.start(server.url.replace('redis:', 'http:'));
    const opened = redisStore({ url: proxy.url.replace('http:', 'redis:'), prefix });
    return { proxy, store: await openStore(opened) };
  };

  it('is not believed before it can have been told, also where a connection to it breaks once more', async () => {
    const [holder, other] = [await through(), await through()];
    const writer = await TestWriter.acquire(holder.store, refOf());
    await writer.append(records(1, 2));
    const { written } = server;
    await writer.append(records(3, 8));
    await writer.append([record(9, 'message_accepted')], { opens: opens('run_1') });
    // Who knows the rest comes last.
    holder.proxy.cuts.push(...Array.from({ length: 1000 }, () => 0));
    holder.proxy.cutAll();
    await server.forget(written);
    await until(() => reaches(other.store));
    other.proxy.cutAll();
    await until(() => reaches(other.store));
    const seen = Promise.all([other.store.head(refOf()), other.store.run(refOf(), { runId: 'run_1' })]);
    holder.proxy.cuts.length = 0;
    const [head, run] = await seen;
    expect(head?.head).to.equal(9);
    expect(run?.runId).to.equal('run_1');
  });

  it('is told again of a session that it does not know at all, which keeps its term and its place', async () => {
    const { written } = server;
    const about = { title: 'Kept', messageCount: 0, pending: 0 };
    const create = { epoch: newTestEpoch(), userId: 'alice' };
    const writer = await TestWriter.acquire(store, refOf(), create);
    await writer.append([record(1, 'message_accepted')], { opens: opens('run_1'), about });
    const record_ = await store.record(refOf());
    await server.forget(written);
    expect(await writer.append([record(2)])).to.include({ first: 2 });
    expect(await store.record(refOf())).to.deep.equal(record_);
    expect((await store.head(refOf()))?.term).to.equal(writer.term);
    await until(async () => (await store.list('alice', { limit: 9 })).records.length === 1);
    expect(await store.kept('alice', { limit: 9 })).to.deep.equal([refOf()]);
  });

  for (const from of ['some of it', 'all of it'] as const)
    it(`is told once more where it forgets while it is told: ${from}`, async () => {
      const nothing = server.written;
      const writer = await TestWriter.acquire(store, refOf());
      await writer.append([record(1, 'message_accepted')], { opens: opens('run_1') });
      const written = from === 'all of it' ? nothing : server.written;
      for (let i = 2; i <= 600; i++) await writer.append([record(i)]);
      const { written: all } = server;
      await server.forget(written);
      const appended = writer.append([record(601)]);
      // It is being told: what it had of the first time is not there yet.
      for (let again = 0; again < 2; again++) {
        await until(async () => server.written > written + (all - written) / 10);
        expect(server.written, 'it is not told all of it yet').to.be.below(all);
        await server.forget(written);
      }
      expect(await appended).to.include({ first: 601, last: 601 });
      expect(await writer.seqs()).to.have.length(601);
      expect(await store.run(refOf(), { runId: 'run_1' })).to.have.property('runId', 'run_1');
    });

  for (const from of ['some of it', 'all of it'] as const)
    it(`is told again also of what it was told again before, long after it was new: ${from}`, async () => {
      const now = performance.now.bind(performance);
      let ahead = 0;
      performance.now = () => now() + ahead;
      closeLater(now, () => {
        performance.now = now;
      });
      const nothing = server.written;
      const writer = await TestWriter.acquire(store, refOf());
      await writer.append([record(1)]);
      const written = from === 'all of it' ? nothing : server.written;
      await writer.append([record(2)]);
      for (const seq of [3, 4]) {
        // Each time within the ten seconds that it is kept for, and of what came first not the second time.
        ahead += 6000;
        await server.forget(written);
        expect(await writer.append([record(seq)])).to.include({ first: seq });
      }
      expect(await writer.seqs()).to.have.length(4);
    });

  it('is told again also of what it took without that its answer came', async () => {
    const proxy = await FaultProxy.start(server.url.replace('redis:', 'http:'));
    const behind = await openStore(redisStore({ url: proxy.url.replace('http:', 'redis:'), prefix }));
    const writer = await TestWriter.acquire(behind, refOf());
    await writer.append([record(1)]);
    const { written } = server;
    proxy.hush('down');
    const appended = writer.append([record(2)]);
    await until(() => server.written > written);
    proxy.cut();
    expect(await appended).to.include({ first: 2, last: 2 });
    await writer.append([record(3)]);
    await server.forget(written);
    expect(await writer.append([record(4)])).to.include({ first: 4, last: 4 });
  });

  it('is told again that a session was taken from another one', async () => {
    const first = await TestWriter.acquire(store, refOf(), undefined, 'gw.a');
    await first.append(records(1, 3));
    const { written } = server;
    const other = await open();
    const taken = await other.acquire(refOf(), { holder: 'gw.b', from: 'gw.a' });
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    const append = (batch: number, seq: number) =>
      other.append({ ...refOf(), epoch: taken.head.epoch }, records(seq, seq), {
        term: taken.head.term,
        batch,
      });
    await append(1, 4);
    await server.forget(written);
    expect(await append(2, 5)).to.include({ first: 5 });
    expect(await refusal(() => first.append(records(4, 4)))).to.equal('FENCED');
    expect((await other.read(first.log, 0, 99, 9999)).map(({ seq, term }) => [seq, term])).to.deep.equal(
      [1, 2, 3].map((seq) => [seq, first.term]).concat([4, 5].map((seq) => [seq, taken.head.term])),
    );
  });

  it('is told first by who held a session, and then by who took it', async () => {
    const before = await through();
    const first = await TestWriter.acquire(before.store, refOf(), undefined, 'gw.a');
    await first.append([record(1)]);
    const { written } = server;
    await first.append(records(2, 3));
    await before.store.release(refOf(), first.term);
    const next = await TestWriter.acquire(store, refOf(), null, 'gw.b');
    await next.append([record(4)]);
    // Who held it comes last.
    before.proxy.cuts.push(...Array.from({ length: 1000 }, () => 0));
    before.proxy.cutAll();
    await server.forget(written);
    const appended = next.append([record(5)]);
    await until(() => reaches(store));
    before.proxy.cuts.length = 0;
    expect(await appended).to.include({ first: 5 });
    expect(await next.seqs()).to.have.length(5);
  });

  it('is told again that a session was closed, and that one was let go', async () => {
    const closing = await TestWriter.acquire(store, refOf('closed'), undefined, 'gw.a');
    const leaving = await TestWriter.acquire(store, refOf('free'), undefined, 'gw.a');
    await leaving.append([record(1, 'message_accepted')], { opens: opens('run_1') });
    const { written } = server;
    await closing.append([record(1, 'session_closed')], { close: true });
    await store.release(refOf('free'), leaving.term);
    await server.forget(written);
    await until(async () => (await store.record(refOf('closed')))?.closed ?? false);
    await until(async () => (await store.unfinished())[0]?.from === '');
  });

  it('is told nothing that another one has written otherwise', async () => {
    const writer = await TestWriter.acquire(store, refOf(), undefined, 'gw.a');
    await writer.append(records(1, 2));
    const { written } = server;
    await writer.append(records(3, 4));
    await server.end();
    // Somebody takes it before its writer is back: by a store that never knew what was forgotten.
    await store.close();
    await server.forget(written);
    const other = await open();
    const next = await TestWriter.acquire(other, refOf(), null, 'gw.a');
    expect(next.acquired.head.head).to.equal(2);
    expect(next.term).to.be.greaterThan(writer.term);
    expect(await next.append(records(7, 7))).to.include({ first: 3 });
  });

  it('is not told what is not known any more: the log is rolled back', async () => {
    const forgetful = await open({ healMs: 0 });
    const writer = await TestWriter.acquire(forgetful, refOf());
    await writer.append(records(1, 2));
    const { written } = server;
    await writer.append(records(3, 4));
    await server.forget(written);
    expect(await refusal(() => writer.append(records(5, 5)))).to.equal('ROLLED_BACK');
    const large = await TestWriter.acquire(store, refOf('large'));
    const at = server.written;
    const big = { ...record(1), body: JSON.stringify({ text: 'x'.repeat(200_000) }) };
    for (let i = 0; i < 3; i++) await large.append([{ ...big }]);
    await server.forget(at);
    expect(await refusal(() => large.append(records(9, 9)))).to.equal('ROLLED_BACK');
  });
});

/** Whether a store can write its Redis now. */
async function reaches(store: Store): Promise<boolean> {
  try {
    await store.check!();
    return true;
  } catch {
    return false;
  }
}
