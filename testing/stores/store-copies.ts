import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import { type MakeStore, newTestEpoch, opened, record, records, refOf } from './records.js';
import { beforeEach, describe, it } from './runner.js';

/** Copies of logs, which keep their places and terms. */
export function describeCopies(makeStore: MakeStore): void {
  describe('copies', () => {
    let store: Store;

    beforeEach(async () => {
      ({ store } = await opened(makeStore));
    });

    it('lists all scopes of which anything is kept, sessions or records', async () => {
      if (!store.scopes) return;
      expect(await store.scopes()).to.deep.equal([]);
      for (const scope of ['alice', 'odd "\u2028\u0000[*]'])
        await store.acquire(refOf('main', scope), { holder: 'gw_1', create: { epoch: newTestEpoch() } });
      await store.changeRecords({ scope: 'records' }, [{ kind: 'note', id: 'n', value: '1' }]);
      expect([...(await store.scopes())].sort()).to.deep.equal(['alice', 'odd "\u2028\u0000[*]', 'records']);
    });

    it('begins a log behind a place, under the terms that are given, and goes on under a higher one', async () => {
      if (!store.scopes) return;
      const epoch = newTestEpoch();
      const log = { ...refOf(), epoch };
      const terms = [7e15, 7e15 + 5];
      const take = (term?: number) =>
        store.acquire(refOf(), {
          ...{ holder: 'import', create: { epoch, copied: { after: 40, createdAt: 1234 } } },
          ...(term !== undefined && { term }),
        });
      const begun = await take(terms[0]);
      if (begun.kind !== 'acquired') throw new Error(begun.kind);
      expect(begun.created).to.equal(true);
      expect(begun.record.createdAt).to.equal(1234);
      expect(begun.head).to.include({ head: 40, term: terms[0] });
      const state = { cursor: null, messages: [], hasMore: false, messageCount: 0, tip: null } as never;
      await store.cut(log, { seq: 40, state }, [], terms[0]!);
      expect(await store.append(log, records(41, 42), { term: terms[0]!, batch: 1 })).to.include({
        first: 41,
      });
      const same = await take(terms[0]);
      expect(same).to.include({ kind: 'acquired', created: false });
      await store.append(log, [record(43)], { term: terms[0]!, batch: 1 });
      await take(terms[1]);
      await store.append(log, [record(44)], { term: terms[1]!, batch: 1 });
      expect((await store.read(log, 40, 9, 9999)).map(({ seq, term }) => [seq, term])).to.deep.equal([
        ...[41, 42, 43].map((seq) => [seq, terms[0]]),
        [44, terms[1]],
      ]);
      const head = (await store.head(refOf()))!;
      expect(head).to.include({ first: 41, head: 44 });
      expect(head.terms).to.deep.equal([
        { term: terms[0], first: 41 },
        { term: terms[1], first: 44 },
      ]);
      await store.release(refOf(), terms[1]!);
      const next = await store.acquire(refOf(), { holder: 'gw_1' });
      expect(next.kind === 'acquired' && next.head.term).to.be.above(terms[1]!);
    });
  });
}
