import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { SessionRef } from '../../server/stores/index.js';
import {
  chain,
  checkpointAt,
  type MakeStore,
  newTestEpoch,
  opened,
  record,
  records,
  refOf,
  refusal,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it, until } from './runner.js';

const opens = { runId: 'run_1', key: 'k', hash: 'h', request: '{"secret":1}' };

/** Tests erasing: a session loses all its data except a notice for subscribers that were behind. */
export function describeErasing(makeStore: MakeStore): void {
  describe('erasing', () => {
    let made: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
    });

    /** A session with a closed log, and an open one with everything in it. */
    async function full(): Promise<{ past: TestWriter; writer: TestWriter }> {
      const past = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch(), userId: 'alice' });
      await past.append([record(1), record(2, 'session_closed')], { close: true });
      const about = { title: 'secret title', metadata: { secret: true } };
      const create = { epoch: newTestEpoch(), userId: 'alice', ...about };
      const writer = await TestWriter.acquire(store, refOf(), create);
      await writer.append(records(1, 3), { opens });
      await store.cut(writer.log, checkpointAt(2, 'm1'), chain(['m0', 'm1']), writer.term);
      await writer.append([], {
        steps: [{ runId: 'run_1', number: 1, name: 'charge', outcome: '"secret"' }],
      });
      return { past, writer };
    }

    async function expectNotice(epoch: string, past: TestWriter, writer: TestWriter): Promise<void> {
      expect(await store.conversations(refOf())).to.deep.equal([epoch]);
      const head = await store.head(refOf());
      expect(head).to.include({ epoch, first: 1, head: 1, closed: true });
      const [event, ...more] = await store.read({ ...refOf(), epoch }, 0, 10, 1000);
      expect(event).to.include({ seq: 1, term: head!.term, type: 'session_closed' });
      expect(more).to.deep.equal([]);
      for (const { log } of [past, writer]) {
        expect(await store.head(refOf(), log.epoch)).to.equal(null);
        expect(await store.read(log, 0, 10, 1000)).to.deep.equal([]);
        expect(await store.checkpoint(log)).to.equal(null);
        expect(await store.messages(log, { tip: 'm1', limit: 9 })).to.deep.equal([]);
      }
      const kept = await store.record(refOf());
      expect(kept).to.include({ closed: true });
      expect(kept).not.to.have.property('userId');
      expect(JSON.stringify(kept)).to.not.include('secret');
      expect(await store.run(refOf(), { runId: 'run_1' })).to.equal(null);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      expect(await store.unfinished()).to.deep.equal([]);
      expect(await store.count('alice')).to.equal(0);
      expect((await store.list('alice', { limit: 9 })).records).to.deep.equal([]);
      const size = event!.body.length;
      expect(await store.usage(refOf())).to.deep.equal({ session: size, scope: size });
    }

    it('drops an open session with the last of its events, which alone is left', async () => {
      const { past, writer } = await full();
      const epoch = newTestEpoch();
      const before = await store.usage(refOf());
      expect(before.session).to.be.greaterThan(200);
      const end = [record(4, 'message_end'), record(5, 'session_closed')];
      const erased = await writer.append(end, { close: true, erase: epoch });
      expect(erased).to.deep.equal({ epoch: writer.log.epoch, first: 4, last: 5 });
      expect(end.map(({ seq, term }) => [seq, term])).to.deep.equal([
        [4, writer.term],
        [5, writer.term],
      ]);
      await expectNotice(epoch, past, writer);
      if (!made.reopen) return;
      store = await made.reopen();
      await expectNotice(epoch, past, writer);
    });

    it('answers the batch again, and takes nothing more behind it', async () => {
      const { writer } = await full();
      const epoch = newTestEpoch();
      const erased = await writer.append([record(4, 'session_closed')], { erase: epoch });
      const { batch } = writer;
      writer.batch = batch - 1;
      expect(await writer.append([record(4, 'session_closed')], { erase: epoch })).to.deep.equal(erased);
      expect(await refusal(() => writer.append([record(5)]))).to.equal('FENCED');
      await store.cut(writer.log, checkpointAt(4, 'm0'), chain(['m0']), writer.term);
      expect(await store.conversations(refOf())).to.deep.equal([epoch]);
      expect(await store.acquire(refOf(), { holder: 'gw_1' })).to.deep.equal({ kind: 'absent' });
      await store.release(refOf(), writer.term);
    });

    it('drops nothing for a writer that was fenced', async () => {
      const { writer } = await full();
      const next = await TestWriter.acquire(store, refOf(), null);
      const late = [record(4, 'session_closed')];
      expect(await refusal(() => writer.append(late, { erase: newTestEpoch() }))).to.equal('FENCED');
      expect(await next.seqs()).to.deep.equal([3]);
      expect(await store.run(refOf(), { key: 'k' })).to.include({ runId: 'run_1' });
    });

    it('drops closed conversations with one that begins behind them and is erased', async () => {
      const { past, writer } = await full();
      await writer.append([record(4, 'session_closed')], { close: true });
      let wakes = 0;
      const unwatch = store.watch(refOf(), () => wakes++);
      const epoch = newTestEpoch();
      const next = await TestWriter.acquire(store, refOf());
      await next.append([record(1, 'session_closed')], { close: true, erase: epoch });
      await until(() => wakes > 0);
      unwatch();
      await expectNotice(epoch, past, writer);
    });

    it('lists every session of a scope of which there is anything, in pages', async () => {
      await full();
      const old = await TestWriter.acquire(store, refOf('old'));
      await old.append(records(1, 1), { opens: { ...opens, runId: 'run_2' } });
      await old.append([record(2, 'session_closed')], { close: true });
      await store.expire(Date.now() + 1);
      expect(await store.record(refOf('old'))).to.equal(null);
      for (const name of ['closed', 'b', 'a'])
        await TestWriter.acquire(store, refOf(name), { epoch: newTestEpoch(), userId: 'alice' });
      const closed = await TestWriter.acquire(store, refOf('closed'), null);
      await closed.append([record(1, 'session_closed')], { close: true });
      await TestWriter.acquire(store, refOf('b', 'alice', 'other'));
      await TestWriter.acquire(store, refOf('strange', 'bob'));
      const found: string[] = [];
      for (let after: SessionRef | undefined; ; ) {
        const page = await store.kept('alice', { limit: 2, ...(after && { after }) });
        expect(page.length).to.be.at.most(2);
        found.push(...page.map(({ app, name }) => `${app}:${name}`));
        after = page.at(-1);
        if (!after) break;
      }
      expect(found).to.have.length(new Set(found).size);
      expect(found).to.have.members([
        ...['assistant:a', 'assistant:b', 'assistant:main', 'assistant:closed', 'other:b'],
      ]);
      await store.remove(refOf('closed'));
      expect(await store.kept('alice', { limit: 9 })).to.not.deep.include(refOf('closed'));
    });

    it('keeps all there is when it leaves nothing of what was dropped, also what is being written', async () => {
      const { writer } = await full();
      const other = await TestWriter.acquire(store, refOf('other'));
      await other.append(records(1, 3));
      await writer.append([record(4, 'session_closed')], { close: true });
      await store.remove(refOf());
      const writing = other.append(records(4, 5));
      await store.vacuum?.();
      await writing;
      await other.append(records(6, 7));
      expect(await other.seqs()).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
      if (made.reopen) store = await made.reopen();
      expect(await store.read(other.log, 0, 9, 9999)).to.have.length(7);
      expect((await store.list('alice', { limit: 9 })).records).to.have.length(1);
      expect(await store.head(refOf())).to.equal(null);
    });

    it('begins anew behind the notice, with terms that were never used', async () => {
      const { writer } = await full();
      const epoch = newTestEpoch();
      await writer.append([record(4, 'session_closed')], { erase: epoch });
      const anew = await TestWriter.acquire(store, refOf());
      expect(anew.acquired).to.include({ created: true });
      expect(anew.acquired.openRuns).to.deep.equal([]);
      expect(anew.term).to.be.greaterThan(writer.term);
      expect(await store.conversations(refOf())).to.deep.equal([epoch, anew.log.epoch]);
      await anew.append(records(1, 2), { opens });
      expect(await anew.seqs()).to.deep.equal([1, 2]);
      await store.expire(Date.now() + 1);
      expect(await store.conversations(refOf())).to.deep.equal([anew.log.epoch]);
    });
  });
}
