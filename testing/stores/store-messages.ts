import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { LogRef } from '../../server/stores/index.js';
import { initialState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import {
  chain,
  checkpointAt,
  type MakeStore,
  message,
  newTestEpoch,
  opened,
  record,
  records,
  refOf,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const sizeOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, it) => sum + JSON.stringify(it).length, 0);
const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `m${from + i}`);

/** Messages as rows, and conversations that begin with some. */
export function describeMessages(makeStore: MakeStore): void {
  describe('messages', () => {
    let made: StoreUnderTest;
    let store: Store;
    let writer: TestWriter;
    const path = async (tip: string, limit = 100, log: LogRef = writer.log): Promise<string[]> =>
      (await store.messages(log, { tip, limit })).map(({ id }) => id);

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      writer = await TestWriter.acquire(store, refOf());
      await writer.append(records(1, 10));
    });

    it('are read as the end of the path to one of them, oldest first', async () => {
      await store.cut(writer.log, checkpointAt(4, 'm2'), chain(range(0, 3)), writer.term);
      await store.cut(writer.log, checkpointAt(8, 'm6'), chain(range(3, 7), 'm2'), writer.term);
      expect(await path('m6')).to.deep.equal(range(0, 7));
      expect(await path('m6', 2)).to.deep.equal(['m5', 'm6']);
      expect(await path('m4', 3)).to.deep.equal(['m2', 'm3', 'm4']);
      expect(await path('m0', 3)).to.deep.equal(['m0']);
      expect(await path('m6', 0)).to.deep.equal([]);
      expect(await path('unknown')).to.deep.equal([]);
      expect(await store.messages(writer.log, { tip: 'm6', limit: 1 })).to.deep.equal([message('m6', 'm5')]);
    });

    it('may branch: each path has its own', async () => {
      const branch = chain(['n1', 'n2'], 'm0');
      await store.cut(writer.log, checkpointAt(4, 'n2'), [...chain(range(0, 3)), ...branch], writer.term);
      expect(await path('m2')).to.deep.equal(['m0', 'm1', 'm2']);
      expect(await path('n2')).to.deep.equal(['m0', 'n1', 'n2']);
    });

    it('are counted by the paths that they are on', async () => {
      const rows = [...chain(range(0, 5)), ...chain(['n1', 'n2'], 'm0'), message('x', 'lost')];
      await store.cut(writer.log, checkpointAt(4, 'n2'), rows, writer.term);
      for (const [tip, length] of Object.entries({ m4: 5, m0: 1, n2: 3, x: 1, lost: 0 }))
        expect(await store.pathLength(writer.log, tip), tip).to.equal(length);
      expect(await store.pathLength({ ...writer.log, epoch: newTestEpoch() }, 'm4')).to.equal(0);
      const circle = [message('a', 'c'), message('b', 'a'), message('c', 'b')];
      await store.cut(writer.log, checkpointAt(8, 'c'), circle, writer.term);
      expect(await store.pathLength(writer.log, 'c'), 'a circle').to.equal(3);
    });

    it('end before a parent that is not there, and in a circle', async () => {
      const circle = [message('a', 'c'), message('b', 'a'), message('c', 'b')];
      await store.cut(
        writer.log,
        checkpointAt(4, 'x'),
        [message('x', 'lost'), ...circle, message('self', 'self')],
        writer.term,
      );
      expect(await path('x')).to.deep.equal(['x']);
      expect(await path('c', 2)).to.deep.equal(['b', 'c']);
      expect((await path('c', 50)).slice(-3)).to.deep.equal(['a', 'b', 'c']);
      expect((await path('self', 50)).at(-1)).to.equal('self');
    });

    it('keep any id apart from any other', async () => {
      const ids = [
        "a'b",
        'A',
        'a',
        'ä',
        'a\u0308',
        '"',
        '\\',
        '%',
        '_',
        '1',
        '01',
        '1.0',
        'null',
        '😀'.repeat(64),
        ' a',
        'a ',
      ];
      await store.cut(writer.log, checkpointAt(4, ids.at(-1)!), chain(ids), writer.term);
      expect(await path(ids.at(-1)!)).to.deep.equal(ids);
      for (const [i, id] of ids.entries())
        expect(await path(id, 2)).to.deep.equal(ids.slice(Math.max(0, i - 1), i + 1));
    });

    it('that follow one are named by any of them, also where they are many', async () => {
      const versions = ['m1', 'n1', 'o1'];
      const with3 = versions.map((id) => ({ ...message(id, 'm0'), versions }));
      const rows = [
        message('m0'),
        ...with3,
        message('only', 'n1'),
        { ...message('r0'), versions: ['m0', 'r0'] },
      ];
      await store.cut(writer.log, checkpointAt(4, 'o1'), rows, writer.term);
      expect(await store.replies(writer.log, 'm0')).to.deep.equal(versions);
      expect(await store.replies(writer.log, 'n1')).to.deep.equal(['only']);
      expect(await store.replies(writer.log, null)).to.deep.equal(['m0', 'r0']);
      for (const parent of ['only', 'unknown'])
        expect(await store.replies(writer.log, parent)).to.deep.equal([]);
      const nowhere = { ...writer.log, epoch: newTestEpoch() };
      expect(await store.replies(nowhere, 'm0')).to.deep.equal([]);
    });

    it('know of versions that came later, and never of fewer than they did', async () => {
      const versionsOf = async (id: string) =>
        (await store.messages(writer.log, { tip: id, limit: 1 }))[0]!.versions;
      await store.cut(writer.log, checkpointAt(3, 'a'), [message('m0'), message('a', 'm0')], writer.term);
      expect(await versionsOf('a')).to.equal(undefined);
      const b = { ...message('b', 'm0'), versions: ['a', 'b'] };
      await store.cut(writer.log, checkpointAt(5, 'b'), [b], writer.term);
      const c = { ...message('c', 'm0'), versions: ['a', 'b', 'c'] };
      await store.cut(writer.log, checkpointAt(10, 'c'), [c], writer.term);
      for (const id of ['a', 'b', 'c']) expect(await versionsOf(id), id).to.deep.equal(['a', 'b', 'c']);
      expect(await versionsOf('m0')).to.equal(undefined);
      expect(await store.replies(writer.log, 'm0')).to.deep.equal(['a', 'b', 'c']);
      const all = [
        message('m0'),
        ...['a', 'b', 'c'].map((id) => ({ ...message(id, 'm0'), versions: c.versions })),
      ];
      expect((await store.usage(refOf())).session).to.equal(sizeOf(all));
    });

    it('are replaced by those of the same ids, in content and in size', async () => {
      await store.cut(writer.log, checkpointAt(10, 'm2'), chain(range(0, 3)), writer.term);
      await writer.append(records(11, 12));
      const longer = { ...message('m2', 'm1'), metadata: { note: 'longer 😀' } };
      const again = [message('m1', 'm0'), longer, message('m3', 'm2')];
      await store.cut(writer.log, checkpointAt(12, 'm3'), again, writer.term);
      const all = [message('m0'), ...again];
      expect(await store.messages(writer.log, { tip: 'm3', limit: 9 })).to.deep.equal(all);
      expect(await store.usage(refOf())).to.deep.equal({ session: sizeOf(all), scope: sizeOf(all) });
    });

    it('are kept once by a cut that is made again', async () => {
      for (let times = 0; times < 2; times++)
        await store.cut(writer.log, checkpointAt(10, 'm2'), chain(range(0, 3)), writer.term);
      expect(await store.messages(writer.log, { tip: 'm2', limit: 9 })).to.deep.equal(chain(range(0, 3)));
      expect((await store.usage(refOf())).session).to.equal(sizeOf(chain(range(0, 3))));
      expect(await store.head(refOf())).to.include({ first: 11, head: 10 });
    });

    it('are there when the store was opened again', async () => {
      if (!made.reopen) return;
      await store.cut(writer.log, checkpointAt(4, 'm4'), chain(range(0, 5)), writer.term);
      store = await made.reopen();
      expect(await path('m3', 2)).to.deep.equal(['m2', 'm3']);
    });
  });

  describe('a log that begins with messages', () => {
    let made: StoreUnderTest;
    let store: Store;
    let source: TestWriter;

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      source = await TestWriter.acquire(store, refOf('source'));
      await source.append(records(1, 8));
      const rows = [...chain(range(0, 5)), ...chain(['n1', 'n2'], 'm1')];
      await store.cut(source.log, checkpointAt(8, 'n2'), rows, source.term);
    });

    it('leaves versions behind: those that it does not have are no versions of its messages', async () => {
      const versions = ['m2', 'n9'];
      await source.append(records(9, 9));
      const edited = versions.map((id) => ({ ...message(id, 'm1'), versions }));
      await store.cut(source.log, checkpointAt(9, 'n9'), edited, source.term);
      const added = { ...message('x', 'n9'), versions: ['x', 'y'] };
      const from = { log: source.log, tip: 'n9', messages: [added] };
      const fork = await TestWriter.acquire(store, refOf('fork'), { epoch: newTestEpoch(), from });
      const all = chain(['m0', 'm1', 'n9', 'x']);
      expect(await store.messages(fork.log, { tip: 'x', limit: 9 })).to.deep.equal(all);
      expect(await store.replies(fork.log, 'm1')).to.deep.equal(['n9']);
      expect(await store.replies(fork.log, 'n9')).to.deep.equal(['x']);
      expect(await store.replies(fork.log, 'x')).to.deep.equal([]);
      expect((await store.usage(refOf('fork'))).session).to.equal(sizeOf(all));
      expect(await store.replies(source.log, 'm1')).to.deep.equal(versions);
    });

    it('has a copy of a path of another log, and what follows it', async () => {
      const before = await store.usage(refOf('source'));
      const added = chain(['x', '😀', 'y'], 'm2');
      const from = { log: source.log, tip: 'm2', messages: added };
      const fork = await TestWriter.acquire(store, refOf('fork'), {
        epoch: newTestEpoch(),
        userId: 'alice',
        from,
      });
      expect(fork.acquired).to.deep.include({ created: true, openRuns: [] });
      expect(fork.acquired.record).to.include({ userId: 'alice', closed: false });
      expect(fork.acquired.head).to.include({ first: 1, head: 0 });
      expect(await store.checkpoint(fork.log)).to.deep.equal({
        seq: 0,
        state: { ...initialState, tip: 'y', hasMore: true, messageCount: 6 },
      });
      expect(fork.acquired.record).to.include({ messageCount: 6, preview: 'text of y' });
      const all = [...chain(range(0, 3)), ...added];
      expect(await store.messages(fork.log, { tip: 'y', limit: 99 })).to.deep.equal(all);
      for (const id of ['m3', 'n1'])
        expect(await store.messages(fork.log, { tip: id, limit: 9 }), 'only the path').to.deep.equal([]);
      expect(await store.usage(refOf('fork'))).to.deep.equal({
        session: sizeOf(all),
        scope: before.scope + sizeOf(all),
      });
      expect(await store.usage(refOf('source'))).to.include({ session: before.session });
      expect(await store.messages(source.log, { tip: 'm4', limit: 9 })).to.deep.equal(chain(range(0, 5)));
    });

    it('goes on by itself: what is appended and cut in either is not in the other', async () => {
      const from = { log: source.log, tip: 'n2', messages: [] };
      const fork = await TestWriter.acquire(store, refOf('fork'), { epoch: newTestEpoch(), from });
      expect(await fork.append(records(1, 3))).to.include({ first: 1, last: 3 });
      expect(await fork.seqs()).to.deep.equal([1, 2, 3]);
      await store.cut(fork.log, checkpointAt(3, 'f'), [message('f', 'n2')], fork.term);
      await source.append(records(9, 9));
      await store.cut(source.log, checkpointAt(9, 's'), [message('s', 'n2')], source.term);
      const ids = async (log: LogRef, tip: string) =>
        (await store.messages(log, { tip, limit: 9 })).map(({ id }) => id);
      expect(await ids(fork.log, 'f')).to.deep.equal(['m0', 'm1', 'n1', 'n2', 'f']);
      expect(await ids(source.log, 's')).to.deep.equal(['m0', 'm1', 'n1', 'n2', 's']);
      expect([await ids(fork.log, 's'), await ids(source.log, 'f')]).to.deep.equal([[], []]);
    });

    it('may take up a closed one of its own session, and only messages of nowhere', async () => {
      await source.append([record(9, 'session_closed')], { close: true });
      const from = { log: source.log, tip: 'm1', messages: [] };
      const again = await TestWriter.acquire(store, refOf('source'), { epoch: newTestEpoch(), from });
      expect(await store.messages(again.log, { tip: 'm1', limit: 9 })).to.deep.equal(chain(['m0', 'm1']));
      const imported = await TestWriter.acquire(store, refOf('import'), {
        epoch: newTestEpoch(),
        from: { messages: chain(['i0', 'i1']) },
      });
      expect((await store.checkpoint(imported.log))!.state).to.include({
        tip: 'i1',
        hasMore: true,
        messageCount: 2,
      });
      expect(await store.messages(imported.log, { tip: 'i1', limit: 9 })).to.deep.equal(chain(['i0', 'i1']));
    });

    it('is empty where nothing is to be copied', async () => {
      const nowhere = { ...refOf('source'), epoch: newTestEpoch() };
      const origins = [
        { log: source.log, tip: 'unknown', messages: [] },
        { log: nowhere, tip: 'm1', messages: [] },
        { log: source.log, messages: [] },
        { messages: [] },
      ];
      for (const [i, from] of origins.entries()) {
        const writer = await TestWriter.acquire(store, refOf(`n${i}`), { epoch: newTestEpoch(), from });
        expect((await store.checkpoint(writer.log))!.state).to.deep.equal(initialState);
        expect((await store.usage(refOf(`n${i}`))).session).to.equal(0);
      }
    });

    it('leaves a session that is open as it is', async () => {
      const open = await TestWriter.acquire(store, refOf('open'));
      await open.append(records(1, 2));
      const from = { log: source.log, tip: 'm1', messages: [] };
      const next = await TestWriter.acquire(store, refOf('open'), { epoch: newTestEpoch(), from });
      expect(next.acquired).to.include({ created: false });
      expect(next.log).to.deep.equal(open.log);
      expect(await store.checkpoint(next.log)).to.equal(null);
      expect(await store.messages(next.log, { tip: 'm1', limit: 9 })).to.deep.equal([]);
    });

    it('is begun once where the call is made again', async () => {
      const from = { log: source.log, tip: 'm1', messages: [message('x', 'm1')] };
      const create = { epoch: newTestEpoch(), from };
      await TestWriter.acquire(store, refOf('fork'), create);
      const fork = await TestWriter.acquire(store, refOf('fork'), create);
      expect(fork.log.epoch).to.equal(create.epoch);
      expect(await store.conversations(refOf('fork'))).to.deep.equal([create.epoch]);
      const all = chain(['m0', 'm1', 'x']);
      expect(await store.messages(fork.log, { tip: 'x', limit: 9 })).to.deep.equal(all);
      expect((await store.usage(refOf('fork'))).session).to.equal(sizeOf(all));
    });

    it('is there with its size when the store was opened again, and goes when it is dropped', async () => {
      if (!made.reopen) return;
      const from = { log: source.log, tip: 'm1', messages: [message('x', 'm1')] };
      const fork = await TestWriter.acquire(store, refOf('fork'), { epoch: newTestEpoch(), from });
      const usage = await store.usage(refOf('fork'));
      store = await made.reopen();
      expect((await store.checkpoint(fork.log))!.state.tip).to.equal('x');
      expect(await store.messages(fork.log, { tip: 'x', limit: 9 })).to.deep.equal(chain(['m0', 'm1', 'x']));
      expect(await store.usage(refOf('fork'))).to.deep.equal(usage);
      const last = await TestWriter.acquire(store, refOf('fork'), null);
      await last.append([record(1, 'session_closed')], { close: true });
      await store.remove(refOf('fork'));
      expect(await store.usage(refOf('fork'))).to.deep.include({ session: 0 });
      expect(await store.messages(fork.log, { tip: 'x', limit: 9 })).to.deep.equal([]);
    });
  });
}
