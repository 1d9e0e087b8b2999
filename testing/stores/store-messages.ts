import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { LogRef } from '../../server/stores/index.js';
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
  refusal,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const sizeOf = (messages: readonly object[]): number =>
  messages.reduce<number>((sum, it) => sum + JSON.stringify(it).length, 0);
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

    it('have the places that they were given', async () => {
      const places = [
        { depth: 1, branch: '' },
        { depth: 2, branch: '' },
        { depth: 100_000, branch: "it's 😀" },
      ];
      const rows = chain(range(0, 3)).map((row, i) => ({ ...row, ...places[i] }));
      await store.cut(writer.log, checkpointAt(4, 'm2'), rows, writer.term);
      expect(await store.messages(writer.log, { tip: 'm2', limit: 9 })).to.deep.equal(rows);
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

  describe('messages of a batch', () => {
    let made: StoreUnderTest;
    let store: Store;
    let writer: TestWriter;
    const kept = (tip: string) => store.messages(writer.log, { tip, limit: 99 });

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      writer = await TestWriter.acquire(store, refOf());
    });

    it('are rows once it is answered, with events or without', async () => {
      const messages = chain(range(0, 5));
      expect(await writer.append([], { messages: messages.slice(3) })).to.include({ first: 1, last: 0 });
      expect(await kept('m4'), 'the path ends where a parent is missing').to.deep.equal(messages.slice(3));
      await writer.append(records(1, 2), { messages: messages.slice(0, 3) });
      expect(await kept('m4')).to.deep.equal(messages);
      expect(await store.replies(writer.log, 'm1')).to.deep.equal(['m2']);
      expect(await writer.seqs()).to.deep.equal([1, 2]);
      expect(await store.head(refOf())).to.include({ first: 1, head: 2 });
      const size = sizeOf(messages) + records(1, 2).reduce((sum, { body }) => sum + body.length, 0);
      expect(await store.usage(refOf())).to.deep.equal({ session: size, scope: size });
    });

    it('are kept once if it is sent again, and replace those of the same ids', async () => {
      const messages = chain(range(0, 3));
      const { term } = writer;
      for (let times = 0; times < 2; times++)
        await store.append(writer.log, [], { term, batch: 1, messages });
      expect((await store.usage(refOf())).session).to.equal(sizeOf(messages));
      const longer = { ...message('m1', 'm0'), metadata: { note: 'longer 😀' } };
      await store.append(writer.log, [], { term, batch: 2, messages: [longer] });
      const all = [messages[0]!, longer, messages[2]!];
      expect(await kept('m2')).to.deep.equal(all);
      expect((await store.usage(refOf())).session).to.equal(sizeOf(all));
    });

    it('complete the versions of those that are there', async () => {
      await writer.append([], { messages: [message('a')] });
      await writer.append([], { messages: [{ ...message('b'), versions: ['a', 'b'] }] });
      const rows = ['a', 'b'].map((id) => ({ ...message(id), versions: ['a', 'b'] }));
      for (const row of rows) expect(await kept(row.id)).to.deep.equal([row]);
      expect((await store.usage(refOf())).session).to.equal(sizeOf(rows));
    });

    it('are not kept of a batch that is refused', async () => {
      const messages = [message('x')];
      const next = await TestWriter.acquire(store, refOf(), null);
      expect(await refusal(() => writer.append([], { messages }))).to.equal('FENCED');
      expect(await kept('x')).to.deep.equal([]);
      expect((await store.usage(refOf())).session).to.equal(0);
      await next.append([], { messages });
      expect(await kept('x')).to.deep.equal(messages);
    });

    it('are there with their size when the store was opened again, and go when the session is dropped', async () => {
      const messages = chain(range(0, 3));
      await writer.append(records(1, 2), { messages });
      const usage = await store.usage(refOf());
      if (made.reopen) store = await made.reopen();
      expect(await kept('m2')).to.deep.equal(messages);
      expect(await store.usage(refOf())).to.deep.equal(usage);
      const last = await TestWriter.acquire(store, refOf(), null);
      await last.append([record(3, 'session_closed')], { close: true });
      await store.remove(refOf());
      expect(await store.usage(refOf())).to.deep.include({ session: 0 });
      expect(await kept('m2')).to.deep.equal([]);
    });
  });
}
