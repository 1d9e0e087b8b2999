import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { RecordChange, RecordHome, SessionRef, StoredRecord } from '../../server/stores/index.js';
import {
  type MakeStore,
  newTestEpoch,
  opened,
  record,
  refOf,
  refusal,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const LEASE_MS = 60_000;
const put = (id: string, value = '{}', more: Partial<RecordChange> = {}): RecordChange => ({
  ...{ kind: 'note', id, value },
  ...more,
});
const dropped = (id: string, token?: number): RecordChange => ({
  ...{ kind: 'note', id },
  ...(token !== undefined && { token }),
});

/** Tests records: typed rows beside the logs, and taking those that are due. */
export function describeRecords(makeStore: MakeStore): void {
  describe('records', () => {
    let made: StoreUnderTest;
    let store: Store;
    let writer: TestWriter;
    /** A home that all tests of a store share on one server. */
    const home: RecordHome = { scope: 'alice' };

    const all = (of: RecordHome = refOf(), kind?: string) =>
      store.records({ home: of, limit: 100, ...(kind !== undefined && { kind }) });
    const ids = async (of?: RecordHome, kind?: string) => (await all(of, kind)).map(({ id }) => id).sort();
    const one = async (id: string, of: RecordHome = refOf()): Promise<StoredRecord> =>
      (await all(of)).find((kept) => kept.id === id)!;
    const take = async (limit = 100, aheadMs = 0) => store.takeDue({ limit, leaseMs: LEASE_MS, aheadMs });

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      writer = await TestWriter.acquire(store, refOf());
    });

    /** Begins sessions, which alone take records. */
    const begun = async (...refs: readonly SessionRef[]): Promise<void> => {
      for (const ref of refs) await TestWriter.acquire(store, ref);
    };

    it('takes none into a session without a log, nor into one that was erased', async () => {
      const gone = refOf('gone');
      const left = async () => [
        await all(gone),
        await store.records({ owner: 'ben', kind: 'note', limit: 9 }),
      ];
      const tried = () => store.changeRecords(gone, [put('a', '1', { owner: 'ben', dueAt: 1 })]);
      expect(await tried(), 'never begun').to.equal(false);
      expect(await store.changeRecords(gone, [dropped('a')]), 'nothing is put').to.equal(true);
      const first = await TestWriter.acquire(store, gone);
      expect(await tried()).to.equal(true);
      await first.append([record(1)], { erase: newTestEpoch() });
      expect(await tried(), 'erased').to.equal(false);
      expect(await left()).to.deep.equal([[], []]);
      const second = await TestWriter.acquire(store, gone);
      expect(await tried(), 'begun anew').to.equal(true);
      await second.append([record(1)], { close: true });
      expect(await tried(), 'closed').to.equal(true);
      await store.remove(gone);
      expect(await tried(), 'removed').to.equal(false);
      expect(await left()).to.deep.equal([[], []]);
      expect((await take()).records).to.deep.equal([]);
    });

    it('takes none that meets an erasure and would outlive it', async () => {
      const home = refOf('gone');
      const ending = await TestWriter.acquire(store, home);
      const changes = Array.from({ length: 20 }, (_, i) => store.changeRecords(home, [put(`r${i}`)]));
      const erased = ending.append([record(1)], { erase: newTestEpoch() });
      await Promise.all([...changes, erased]);
      expect(await ids(home)).to.deep.equal([]);
    });

    it('keeps those of a session and those of a scope, apart from each other', async () => {
      await begun(refOf('other'));
      expect(
        await store.changeRecords(refOf(), [put('a', '{"text":"ä😀\\u0000\\n"}', { owner: 'ben' })]),
      ).to.equal(true);
      expect(await store.changeRecords(home, [put('b')])).to.equal(true);
      expect(await store.changeRecords(refOf('other'), [put('c'), { ...put('d'), kind: 'alarm' }])).to.equal(
        true,
      );
      expect((await all()).map(({ token: _, ...kept }) => kept)).to.deep.equal([
        { home: refOf(), kind: 'note', id: 'a', owner: 'ben', value: '{"text":"ä😀\\u0000\\n"}' },
      ]);
      expect((await all(home)).map(({ home: of, id }) => [of, id])).to.deep.equal([[home, 'b']]);
      expect(await ids(refOf('other'), 'alarm')).to.deep.equal(['d']);
      expect(await ids(refOf('nobody'))).to.deep.equal([]);
    });

    it('finds one by its name', async () => {
      await begun(refOf('other'));
      await store.changeRecords(refOf(), [
        put('a', '1', { owner: 'ben', dueAt: 5_000_000_000_000 }),
        put('b', '2'),
      ]);
      await store.changeRecords(refOf('other'), [put('a', '3')]);
      const named = (id: string, kind = 'note') => store.records({ home: refOf(), kind, id, limit: 1 });
      expect(await named('a')).to.deep.equal([await one('a')]);
      expect((await named('b')).map(({ value }) => value)).to.deep.equal(['2']);
      expect(await named('ab')).to.deep.equal([]);
      expect(await named('a', 'alarm')).to.deep.equal([]);
      // A driver's statement may still be at the end of what it did not find.
      const { token } = await one('a');
      expect(await named('ab')).to.deep.equal([]);
      expect(await store.changeRecords(refOf(), [put('a', '4', { token })])).to.equal(true);
    });

    it('puts one in the place of another, and drops it', async () => {
      await store.changeRecords(home, [put('a', '1', { owner: 'ben', dueAt: 5_000_000_000_000 })]);
      const before = await one('a', home);
      await store.changeRecords(home, [put('a', '2')]);
      const after = await one('a', home);
      expect(after).to.deep.equal({ home, kind: 'note', id: 'a', value: '2', token: after.token });
      expect(after.token).to.be.above(before.token);
      await store.changeRecords(home, [dropped('a'), dropped('never')]);
      expect(await ids(home)).to.deep.equal([]);
    });

    it('changes all or nothing, and only what was asked for by its token', async () => {
      await store.changeRecords(home, [put('a'), put('b')]);
      const { token } = await one('a', home);
      expect(await store.changeRecords(home, [put('a', '1', { token: 0 }), put('c')])).to.equal(false);
      expect(await store.changeRecords(home, [put('c'), dropped('b', token - 1)])).to.equal(false);
      expect(await store.changeRecords(home, [dropped('d', token)])).to.equal(false);
      expect(await ids(home)).to.deep.equal(['a', 'b']);
      expect(
        await store.changeRecords(home, [put('a', '1', { token }), put('c', '1', { token: 0 })]),
      ).to.equal(true);
      expect(await store.changeRecords(home, [put('a', '2', { token })])).to.equal(false);
      expect((await one('a', home)).value).to.equal('1');
      const again = { mayRepeat: true };
      expect(await store.changeRecords(home, [put('a', '3', { token })], again)).to.equal(false);
      expect(await store.changeRecords(home, [put('a', '3')], again)).to.equal(true);
      expect((await one('a', home)).value).to.equal('3');
    });

    it('never gives a token again, not even of one that was dropped and put again', async () => {
      const tokens = new Set<number>();
      for (let i = 0; i < 5; i++) {
        await store.changeRecords(home, [put('a')]);
        tokens.add((await one('a', home)).token);
        await store.changeRecords(home, [dropped('a')]);
      }
      expect(tokens.size).to.equal(5);
    });

    it('pages through those of a home, and through those of an owner in all homes', async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      await begun(refOf('s1', 'carol'), refOf('s2', 'carol'));
      await store.changeRecords(home, [...names.map((id) => put(id, id, { owner: 'ben' })), put('f')]);
      await store.changeRecords(refOf('s1', 'carol'), [
        put('g', '"g"', { owner: 'ben' }),
        put('h', '1', { owner: 'eve' }),
      ]);
      await store.changeRecords(refOf('s2', 'carol'), [put('a', '"i"', { owner: 'ben' })]);
      const paged: string[] = [];
      for (let after: StoredRecord | undefined; ; ) {
        const page = await store.records({ home, limit: 2, ...(after && { after }) });
        paged.push(...page.map(({ id }) => id));
        after = page.at(-1);
        if (page.length < 2) break;
      }
      // Records of a home come sorted by kind and id.
      expect(paged).to.deep.equal([...names, 'f']);
      const found: StoredRecord[] = [];
      for (;;) {
        const after = found.at(-1);
        const page = await store.records({ owner: 'ben', kind: 'note', limit: 3, ...(after && { after }) });
        found.push(...page);
        if (page.length < 3) break;
      }
      expect(found.map(({ home: { name }, id }) => `${name ?? ''} ${id}`).sort()).to.deep.equal([
        ...names.map((id) => ` ${id}`),
        's1 g',
        's2 a',
      ]);
      expect(await store.records({ owner: 'ben', kind: 'alarm', limit: 3 })).to.deep.equal([]);
      await store.changeRecords(refOf('s1', 'carol'), [put('g')]);
      expect(await store.records({ owner: 'ben', kind: 'note', limit: 100 })).to.have.length(6);
    });

    describe('with an append', () => {
      it('writes them with its events, or without any', async () => {
        expect(await writer.append([record(1)], { records: [put('a')] })).to.include({ first: 1, last: 1 });
        expect(await writer.append([], { records: [put('b', '1', { owner: 'ben' })] })).to.include({
          last: 1,
        });
        expect(await ids()).to.deep.equal(['a', 'b']);
        expect(await store.records({ owner: 'ben', kind: 'note', limit: 9 })).to.have.length(1);
        await writer.append([record(2)], { records: [dropped('a')] });
        expect(await ids()).to.deep.equal(['b']);
        expect(await writer.seqs()).to.deep.equal([1, 2]);
      });

      it('writes nothing of a batch whose change asks for another record', async () => {
        await writer.append([], { records: [put('a')] });
        const { token } = await one('a');
        const opens = { runId: 'run_1', key: 'k', request: '{}' };
        const batch = { records: [put('b'), dropped('a', token + 1)], opens };
        const result = await writer.append([record(1, 'message_accepted')], batch);
        expect(result).to.deep.equal({ epoch: writer.log.epoch, first: 1, last: 0, stale: true });
        writer.batch -= 1;
        expect(await ids()).to.deep.equal(['a']);
        expect(await store.run(refOf(), { runId: 'run_1' })).to.equal(null);
        await writer.append([record(1, 'message_accepted')], { records: [dropped('a', token)], opens });
        expect(await ids()).to.deep.equal([]);
        expect(await writer.seqs()).to.deep.equal([1]);
      });

      it('answers a batch that comes again, also where its own change has been made', async () => {
        await writer.append([], { records: [put('a')] });
        const { token } = await one('a');
        await writer.append([record(1)], { records: [dropped('a', token)] });
        writer.batch -= 1;
        expect(await writer.append([record(1)], { records: [dropped('a', token)] })).to.deep.equal({
          ...{ epoch: writer.log.epoch, first: 1, last: 1 },
        });
      });

      it('refuses those of a former writer', async () => {
        await TestWriter.acquire(store, refOf(), null);
        expect(await refusal(() => writer.append([], { records: [put('a')] }))).to.equal('FENCED');
        expect(await ids()).to.deep.equal([]);
      });

      it('keeps them when the session is closed and begins anew, and drops them with it', async () => {
        await begun(refOf('other'));
        await store.changeRecords(refOf('other'), [put('a')]);
        await writer.append([record(1)], {
          records: [put('a', '1', { dueAt: 1, owner: 'ben' })],
          close: true,
        });
        expect(await ids()).to.deep.equal(['a']);
        const next = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch() });
        expect(await ids()).to.deep.equal(['a']);
        await next.append([record(1)], { erase: newTestEpoch() });
        expect(await ids()).to.deep.equal([]);
        expect(await store.records({ owner: 'ben', kind: 'note', limit: 9 })).to.deep.equal([]);
        expect((await take()).records).to.deep.equal([]);
        expect(await ids(refOf('other'))).to.deep.equal(['a']);
      });

      it('drops those of a session that is removed, and of one that is expired', async () => {
        await writer.append([record(1)], { records: [put('a', '1', { dueAt: 1 })], close: true });
        const old = await TestWriter.acquire(store, refOf('old'));
        await old.append([record(1)], { records: [put('a', '1', { dueAt: 1 })], close: true });
        await store.remove(refOf());
        await store.expire(Date.now() + 60_000);
        expect([await ids(), await ids(refOf('old'))]).to.deep.equal([[], []]);
        expect(await take())
          .to.include({ nextAt: null })
          .and.deep.include({ records: [] });
      });
    });

    describe('that are due', () => {
      it('gives them in order, once, and says when the next one is due', async () => {
        const now = Date.now();
        const later = now + 3_600_000;
        await begun(refOf('s1'), refOf('s2'));
        await store.changeRecords(home, [
          put('b', '"b"', { dueAt: now - 1000 }),
          put('d', '1', { dueAt: later }),
        ]);
        await store.changeRecords(refOf('s1'), [
          put('a', '"a"', { dueAt: now - 2000, owner: 'ben' }),
          put('e'),
        ]);
        await store.changeRecords(refOf('s2'), [put('c', '"c"', { dueAt: now - 500 })]);
        const { records, nextAt, now: at } = await take();
        expect(at).to.be.within(now - 5000, now + 60_000);
        expect(records.map(({ token: _, ...due }) => due)).to.deep.equal([
          { home: refOf('s1'), kind: 'note', id: 'a', owner: 'ben', value: '"a"', dueAt: now - 2000 },
          { home, kind: 'note', id: 'b', value: '"b"', dueAt: now - 1000 },
          { home: refOf('s2'), kind: 'note', id: 'c', value: '"c"', dueAt: now - 500 },
        ]);
        // Taken records are due again when their lease ends.
        expect(nextAt).to.be.within(now + LEASE_MS - 5000, now + LEASE_MS + 60_000);
        expect((await take()).records).to.deep.equal([]);
      });

      it('gives no more than asked for, and says that more is due', async () => {
        const now = Date.now();
        await begun(refOf('s1'));
        const changes = Array.from({ length: 5 }, (_, i) => put(`r${i}`, '1', { dueAt: now - 100 + i }));
        await store.changeRecords(home, changes.slice(0, 3));
        await store.changeRecords(refOf('s1'), changes.slice(3));
        const first = await take(2);
        expect(first.records).to.have.length(2);
        expect(first.nextAt).to.be.at.most(now);
        const rest = await take(100);
        expect([...first.records, ...rest.records].map(({ id }) => id).sort()).to.deep.equal(
          changes.map(({ id }) => id),
        );
      });

      it('fences who took one before: the lease is over, or it was put meanwhile', async () => {
        await store.changeRecords(refOf(), [put('a', '1', { dueAt: Date.now() - 1000 })]);
        const before = await one('a');
        const [first] = (await take()).records;
        expect(await store.changeRecords(refOf(), [dropped('a', before.token)])).to.equal(false);
        const [second] = (await take(100, LEASE_MS + 60_000)).records;
        expect(second).to.include({ id: 'a', value: '1' });
        expect(second!.token).to.be.above(first!.token);
        expect(await store.changeRecords(refOf(), [dropped('a', first!.token)])).to.equal(false);
        const stale = await writer.append([record(1)], { records: [dropped('a', first!.token)] });
        expect(stale.stale).to.equal(true);
        writer.batch -= 1;
        await writer.append([record(1)], { records: [dropped('a', second!.token)] });
        expect(await take(100, 10 * LEASE_MS))
          .to.include({ nextAt: null })
          .and.deep.include({ records: [] });
      });

      it('gives each to one of many that take at once', async () => {
        const now = Date.now();
        await begun(refOf('s1'));
        const changes = Array.from({ length: 40 }, (_, i) => put(`r${i}`, '1', { dueAt: now - i }));
        await Promise.all([
          store.changeRecords(home, changes.slice(0, 20)),
          store.changeRecords(refOf('s1'), changes.slice(20)),
        ]);
        const taken = await Promise.all(Array.from({ length: 4 }, () => take(40)));
        const left = await take(40);
        const given = [...taken, left].flatMap(({ records }) => records.map(({ id }) => id));
        expect(given.sort()).to.deep.equal(changes.map(({ id }) => id).sort());
      });

      it('is not due any more once it is put without a time, or dropped', async () => {
        await store.changeRecords(home, [put('a', '1', { dueAt: 1 }), put('b', '1', { dueAt: 2 })]);
        await store.changeRecords(home, [put('a'), dropped('b')]);
        expect(await take())
          .to.include({ nextAt: null })
          .and.deep.include({ records: [] });
      });
    });

    it('has them when it is opened again', async () => {
      if (!made.reopen) return;
      await writer.append([record(1)], { records: [put('a', '1', { dueAt: 1, owner: 'ben' })] });
      await store.changeRecords(home, [put('b')]);
      store = await made.reopen();
      expect([await ids(), await ids(home)]).to.deep.equal([['a'], ['b']]);
      expect(await store.records({ owner: 'ben', kind: 'note', limit: 9 })).to.have.length(1);
      expect((await take()).records.map(({ id }) => id)).to.deep.equal(['a']);
    });
  });
}
