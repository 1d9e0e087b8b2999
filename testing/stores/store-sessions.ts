import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import {
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
import { beforeEach, describe, it } from './runner.js';

/** Ownership, terms, epochs, records and lists. */
export function describeSessions(makeStore: MakeStore): void {
  describe('sessions', () => {
    let store: Store;
    let made: StoreUnderTest;

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
    });

    it('says what it keeps', () => {
      expect(store.durability).to.be.oneOf(['memory', 'process', 'disk']);
      expect(store.durability === 'memory').to.equal(made.reopen === undefined);
    });

    it('has nothing of a session that nobody began', async () => {
      expect((await store.acquire(refOf(), { holder: 'gw_1' })).kind).to.equal('absent');
      expect(await store.head(refOf())).to.equal(null);
      expect(await store.record(refOf())).to.equal(null);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      expect(await store.checkpoint({ ...refOf(), epoch: newTestEpoch() })).to.equal(null);
      expect(
        await store.messages({ ...refOf(), epoch: newTestEpoch() }, { tip: 'm0', limit: 5 }),
      ).to.deep.equal([]);
      expect(await store.read({ ...refOf(), epoch: newTestEpoch() }, 0, 10, 1000)).to.deep.equal([]);
      expect(await store.count('alice')).to.equal(0);
      expect((await store.acquire(refOf(), { holder: 'gw_1' })).kind, 'asking creates nothing').to.equal(
        'absent',
      );
    });

    it('begins a session under the epoch that create names, empty', async () => {
      const before = Date.now();
      const epoch = newTestEpoch();
      const { acquired } = await TestWriter.acquire(store, refOf(), { epoch, userId: 'u1' });
      expect(acquired.created).to.equal(true);
      expect(acquired.head).to.include({ epoch, first: 1, head: 0, closed: false });
      expect(acquired.head.term).to.be.greaterThan(0);
      const { record: kept } = acquired;
      expect(kept).to.include({ epoch, closed: false, userId: 'u1' });
      expect(kept.ref).to.deep.equal(refOf());
      expect(kept.createdAt).to.be.within(before, Date.now());
      expect(await store.record(refOf())).to.deep.equal(kept);
    });

    it('keeps no user where none was named', async () => {
      const { acquired } = await TestWriter.acquire(store, refOf());
      expect(acquired.record).to.not.have.property('userId');
    });

    it('knows the conversations that were held under a key, in order, as long as their logs are kept', async () => {
      expect(await store.conversations(refOf())).to.deep.equal([]);
      const epochs: string[] = [];
      for (let i = 0; i < 3; i++) {
        const epoch = newTestEpoch();
        const writer = await TestWriter.acquire(store, refOf(), { epoch });
        epochs.push(epoch);
        expect(await store.conversations(refOf())).to.deep.equal(epochs);
        if (i < 2) await writer.append([record(1, 'session_closed')], { close: true });
      }
      await store.expire(Date.now() + 1);
      expect(await store.conversations(refOf())).to.deep.equal(epochs.slice(2));
    });

    it('takes up an open session as it stands, whatever create says', async () => {
      const first = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch(), userId: 'u1' });
      await first.append(records(1, 3));
      for (const create of [null, { epoch: newTestEpoch(), userId: 'u2' }]) {
        await store.release(refOf(), (await store.head(refOf()))!.term);
        const { acquired } = await TestWriter.acquire(store, refOf(), create);
        expect(acquired.created).to.equal(false);
        expect(acquired.head).to.include({ epoch: first.log.epoch, first: 1, head: 3 });
        expect(acquired.record.userId).to.equal('u1');
      }
    });

    it('gives every acquisition a higher term and remembers who wrote what', async () => {
      let writer = await TestWriter.acquire(store, refOf());
      const written: number[] = [];
      for (const size of [2, 0, 1, 3]) {
        if (size > 0) await writer.append(records(1, size));
        for (let i = 0; i < size; i++) written.push(writer.term);
        await store.release(refOf(), writer.term);
        const next = await TestWriter.acquire(store, refOf(), null);
        expect(next.term).to.be.greaterThan(writer.term);
        writer = next;
      }
      const { terms, term } = (await store.head(refOf()))!;
      expect(term).to.equal(writer.term);
      const termAt = (seq: number): number | undefined => terms.findLast(({ first }) => first <= seq)?.term;
      expect(written.map((_, i) => termAt(i + 1))).to.deep.equal(written);
      expect(terms.map(({ first }) => first)).to.deep.equal(
        terms.map(({ first }) => first).sort((a, b) => a - b),
      );
      const events = await store.read(writer.log, 0, 100, 1 << 20);
      expect(events.map((event) => event.term)).to.deep.equal(written);
    });

    it('refuses a writer whose term another has replaced, and writes nothing of it', async () => {
      const old = await TestWriter.acquire(store, refOf());
      await old.append(records(1, 2));
      await store.release(refOf(), old.term);
      const present = await TestWriter.acquire(store, refOf(), null, 'gw_2');
      const opens = { runId: 'r', key: 'k', hash: 'h', request: '{}' };
      expect(await refusal(() => old.append(records(3, 3), { opens }))).to.equal('FENCED');
      expect(await refusal(() => old.append(records(3, 3), { close: true }))).to.equal('FENCED');
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      expect(await store.head(refOf())).to.include({ head: 2, closed: false });
      // A former holder's `release` must not take the session from the present holder.
      await store.release(refOf(), old.term);
      expect(await present.append(records(3, 3))).to.include({ first: 3, last: 3 });
    });

    it('refuses a term that it never gave', async () => {
      const writer = await TestWriter.acquire(store, refOf());
      const forged = { term: writer.term + 1, batch: 1 };
      // A store may also take it for one that it has forgotten.
      expect(await refusal(() => store.append(writer.log, records(1, 1), forged))).to.be.oneOf([
        'FENCED',
        'ROLLED_BACK',
      ]);
    });

    it('closes with a batch: nothing more is written, what was written stays readable', async () => {
      const writer = await TestWriter.acquire(store, refOf());
      await writer.append(records(1, 2));
      await writer.append([record(3, 'session_closed')], { close: true });
      expect(await refusal(() => writer.append(records(4, 4)))).to.equal('FENCED');
      expect(await store.head(refOf())).to.include({ epoch: writer.log.epoch, head: 3, closed: true });
      expect((await store.record(refOf()))?.closed).to.equal(true);
      expect((await store.acquire(refOf(), { holder: 'gw_1' })).kind).to.equal('absent');
      expect(await writer.seqs()).to.deep.equal([1, 2, 3]);
    });

    it('begins a closed session anew: another epoch from 1, a higher term, the old log beside it', async () => {
      const old = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch(), userId: 'u1' });
      await old.append(records(1, 2));
      await old.append([record(3, 'session_closed')], { close: true });
      const anew = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch(), userId: 'u2' });
      expect(anew.acquired.created).to.equal(true);
      expect(anew.acquired.record.userId).to.equal('u2');
      expect(anew.term).to.be.greaterThan(old.term);
      expect(anew.acquired.head).to.include({ first: 1, head: 0, closed: false });
      await anew.append(records(1, 1));
      expect(await refusal(() => old.append(records(4, 4)))).to.equal('FENCED');
      expect(await old.seqs()).to.deep.equal([1, 2, 3]);
      expect(await anew.seqs()).to.deep.equal([1]);
      expect(await store.head(refOf(), old.log.epoch)).to.include({ head: 3, closed: true });
      expect(await store.head(refOf(), newTestEpoch())).to.equal(null);
      expect(await store.head(refOf())).to.include({ epoch: anew.log.epoch, head: 1 });
    });

    it('keeps sessions of other scopes, apps and names apart', async () => {
      const refs = [
        refOf('main', 'a'),
        refOf('main', 'b'),
        refOf('other', 'a'),
        refOf('main', 'a', 'helper'),
      ];
      for (const [i, ref] of refs.entries()) {
        const writer = await TestWriter.acquire(store, ref);
        await writer.append(records(1, i + 1), {
          opens: { runId: `r${i}`, key: 'k', hash: `h${i}`, request: '{}' },
        });
      }
      for (const [i, ref] of refs.entries()) {
        expect((await store.head(ref))?.head).to.equal(i + 1);
        expect((await store.run(ref, { key: 'k' }))?.runId).to.equal(`r${i}`);
      }
      const { epoch } = (await store.head(refs[0]!))!;
      expect(
        await store.read({ ...refs[1]!, epoch }, 0, 10, 1000),
        'an epoch is no key to another session',
      ).to.deep.equal([]);
    });

    it('keeps everything acknowledged when it is opened again', async () => {
      if (!made.reopen) return;
      const writer = await TestWriter.acquire(store, refOf(), { epoch: newTestEpoch(), userId: 'u1' });
      await writer.append(records(1, 3), { opens: { runId: 'r', key: 'k', hash: 'h', request: '{}' } });
      const again = await made.reopen();
      expect(await again.head(refOf())).to.include({ epoch: writer.log.epoch, head: 3 });
      expect((await again.run(refOf(), { key: 'k' }))?.runId).to.equal('r');
      const next = await TestWriter.acquire(again, refOf(), null);
      expect(next.term).to.be.greaterThan(writer.term);
      expect(await next.seqs()).to.deep.equal([1, 2, 3]);
    });
  });
}
