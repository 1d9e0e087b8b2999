import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import {
  chain,
  checkpointAt,
  newTestEpoch,
  record,
  records,
  refOf,
  resultOf,
  TestWriter,
} from '../../../testing/stores/records.js';
import { openStore } from '../../support/open-store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';

describeWithRedis('Redis, of what was dropped', () => {
  let server: RedisServer;
  let store: Store;
  let prefix: string;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());
  beforeEach(async () => {
    prefix = newPrefix();
    store = await openStore(redisStore({ url: server.url, prefix }));
  });

  /** Keys that are about somebody. */
  const left = async (): Promise<string[]> => {
    // What was told to a list before is there.
    await store.list('alice', { limit: 1 });
    const all = server.cli('keys', `${prefix}:*`).split('\n').filter(Boolean);
    return all.filter((key) => key !== `${prefix}:format`);
  };

  /** A session with a closed log, and an open one with everything in it. */
  async function full(): Promise<TestWriter> {
    const past = await TestWriter.acquire(store, refOf());
    await past.append(records(1, 4));
    await past.append([record(5, 'session_closed')], { close: true });
    const writer = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch(), userId: 'alice' });
    await writer.append([], { messages: chain(['i0', 'i1']) });
    const opens = (runId: string) => ({ opens: { runId, key: `k ${runId}`, hash: 'h', request: '{}' } });
    const about = { messageCount: 1, pending: 0, usedAt: Date.now() };
    await writer.append([record(1, 'message_accepted')], { ...opens('run_1'), about });
    await writer.append([record(2, 'message_end')], {
      ends: [{ runId: 'run_1', result: resultOf('run_1') }],
    });
    await writer.append([record(3, 'message_accepted')], opens('run_2'));
    await writer.append([], { steps: [{ runId: 'run_2', number: 1, name: 'a' }] });
    await store.cut(writer.log, checkpointAt(2, 'm1'), chain(['m0', 'm1']), writer.term);
    return writer;
  }

  it('keeps no key of a session that was closed and removed', async () => {
    const writer = await full();
    expect(await left()).to.have.length.greaterThan(12);
    await writer.append([record(4, 'session_closed')], { close: true });
    await store.remove(refOf());
    expect(await left()).to.deep.equal([]);
  });

  it('keeps no key of a session that was erased, once its notice has gone', async () => {
    const writer = await full();
    await writer.append([record(4, 'session_closed')], { erase: newTestEpoch() });
    const kept = await left();
    expect(kept.filter((key) => key.includes('run_') || key.includes(writer.log.epoch))).to.deep.equal([]);
    await store.remove(refOf());
    expect(await left()).to.deep.equal([]);
  });

  it('keeps no place in lists of one that was erased, where that is asked once more', async () => {
    const writer = await full();
    await left();
    const listed = server.cli('keys', `${prefix}:s:*`);
    const [member, score] = server.cli('zrange', listed, '0', '-1', 'withscores').split(/\n(?=\d+$)/);
    const options = { term: writer.term, batch: writer.batch + 1, erase: newTestEpoch() };
    const erase = () => store.append(writer.log, [record(4, 'session_closed')], options);
    const first = await erase();
    // As where Redis was asked once more, since its answer was lost before the list was told.
    await left();
    server.cli('zadd', listed, score!, member!);
    expect(await erase()).to.deep.equal(first);
    // Behind what the list is told, and no list: that would find it.
    await store.check?.();
    expect(server.cli('exists', listed)).to.equal('0');
  });

  it('keeps no byte of it in its file, once that was written anew', async () => {
    const writer = await full();
    const secret = { ...record(4), body: JSON.stringify({ text: 'a secret of somebody' }) };
    await writer.append([secret]);
    await writer.append([record(5, 'session_closed')], { close: true });
    await store.remove(refOf());
    expect(server.file).to.include('a secret of somebody');
    const other = await TestWriter.acquire(store, refOf('other'));
    await Promise.all([store.vacuum?.(), store.vacuum?.(), other.append(records(1, 3))]);
    expect(server.file).to.not.include('a secret of somebody');
    expect(await other.seqs()).to.deep.equal([1, 2, 3]);
  });

  it('keeps no key of what has expired', async () => {
    const writer = await full();
    await writer.append([record(4, 'session_closed')], { close: true });
    await store.expire(Date.now() + 1);
    expect(await left()).to.deep.equal([]);
  });

  describe('lists a session for an owner of records in it', () => {
    const owner = JSON.stringify(['t', 'annabel']);
    const put = (id: string, at = refOf()) =>
      store.changeRecords(at, [{ kind: 'read', id, owner, value: '{}' }]);
    const lists = () => server.cli('keys', `${prefix}:u:*`).split('\n').filter(Boolean);

    it('until the last of them is dropped', async () => {
      await TestWriter.acquire(store, refOf());
      expect([await put('a'), await put('b')]).to.deep.equal([true, true]);
      expect(await store.changeRecords(refOf(), [{ kind: 'read', id: 'a' }])).to.equal(true);
      expect(await store.records({ owner, kind: 'read', limit: 10 })).to.have.length(1);
      expect(await store.changeRecords(refOf(), [{ kind: 'read', id: 'b' }])).to.equal(true);
      expect(lists()).to.deep.equal([]);
    });

    for (const how of ['erased', 'closed and removed'] as const)
      it(`until it is ${how}`, async () => {
        const writer = await full();
        await put('a');
        const change = { kind: 'grant', id: 'g', owner, value: '{}' };
        await writer.append([record(4)], { records: [change] });
        expect(lists()).to.have.length(2);
        if (how === 'erased') await writer.append([record(5, 'session_closed')], { erase: newTestEpoch() });
        else {
          await writer.append([record(5, 'session_closed')], { close: true });
          await store.remove(refOf());
        }
        expect(lists()).to.deep.equal([]);
      });

    it('until somebody looks there and finds none, and others in their order meanwhile', async () => {
      for (const name of ['b', 'a', 'c']) {
        await TestWriter.acquire(store, refOf(name));
        await put('r', refOf(name));
        await put('r', refOf('b'));
      }
      // As where a gateway died between the announcement and the record.
      const [list = ''] = lists();
      const [member = ''] = server.cli('zrange', list, '0', '0').split('\n');
      server.cli('zadd', list, '1', member.replace(/[abc](?=[^abc]*$)/, 'gone'));
      const names = async (after?: { home: object; id: string }) =>
        (await store.records({ owner, kind: 'read', limit: 2, ...(after && { after }) } as never)).map(
          ({ home }) => home.name,
        );
      expect(await names()).to.deep.equal(['a', 'b']);
      expect(await names({ home: refOf('b'), id: 'r' })).to.deep.equal(['c']);
      expect(server.cli('zcard', list)).to.equal('3');
    });
  });
});
