import { expect } from 'chai';
import { DONE, type DueKind } from '../../server/due/due-kind.js';
import { DueWorker } from '../../server/due/due-worker.js';
import { memoryStore } from '../../server/stores/memory.js';
import { watchedStore } from '../../server/stores/watched-store.js';
import { gate } from '../support/gate.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

/** A worker on a store, which handles records of one kind. */
function begin(handle: (id: string) => Promise<void> | void, words: Partial<DueKind> = {}) {
  const inner = memoryStore();
  const worker: DueWorker = new DueWorker({ store: inner, report: () => {}, format: ({ name }) => name });
  const store = watchedStore(inner, [(committed) => worker.committed(committed)]);
  const handled: string[] = [];
  const begun: string[] = [];
  worker.on('work', {
    async do({ home, kind, id, token }) {
      begun.push(id);
      await handle(id);
      handled.push(id);
      await store.changeRecords(home, [{ kind, id, token }]);
      return DONE;
    },
    ...words,
  });
  closeLater(worker, (it) => it.stop(0));
  const owe = (session: string, ...ids: readonly string[]) =>
    store.changeRecords(
      { scope: session },
      ids.map((id, i) => ({ kind: 'work', id, value: '{}', dueAt: Date.now() - 1000 + i })),
    );
  return { worker, begun, handled, owe };
}

describe('due work', () => {
  it('goes on in free lanes while slow records are at work', async () => {
    const slow = gate();
    const { worker, begun, handled, owe } = begin((id) => (id.startsWith('slow') ? slow.passed : undefined));
    for (let i = 0; i < 15; i++) await owe(`s${i}`, `slow${i}`);
    worker.start();
    await until(() => begun.length === 15);
    for (let i = 0; i < 100; i++) await owe(`f${i}`, `fast${i}`);
    await until(() => handled.length === 100);
    slow.open();
    await until(() => handled.length === 115);
  });

  it('is done of 16 sessions at a time', async () => {
    const slow = gate();
    const { worker, begun, handled, owe } = begin(() => slow.passed);
    for (let i = 0; i < 100; i++) await owe(`s${i}`, `slow${i}`);
    worker.start();
    await until(() => begun.length === 16);
    slow.open();
    await until(() => handled.length === 100);
    expect(new Set(begun).size).to.equal(100);
  });

  it('of one session is done one at a time, in the order in which it was due', async () => {
    const first = gate();
    const { worker, begun, handled, owe } = begin((id) => (id === 'a' ? first.passed : undefined));
    await owe('main', 'a', 'b');
    worker.start();
    await until(() => begun.length === 1);
    await owe('main', 'c');
    await owe('other', 'd');
    await until(() => handled.includes('d'));
    expect(begun).to.deep.equal(['a', 'd']);
    first.open();
    await until(() => handled.length === 4);
    expect(begun).to.deep.equal(['a', 'd', 'b', 'c']);
  });

  for (const [how, words] of [
    ['', {}],
    [', where it is asked first whether it is wanted', { wanted: async () => true as const }],
  ] as const)
    it(`leaves time to others in each turn of the loop${how}`, async () => {
      const { worker, handled, owe } = begin(() => {
        const end = performance.now() + 4;
        while (performance.now() < end);
      }, words);
      for (let i = 0; i < 40; i++) await owe(`s${i}`, `${i}`);
      const most = { inOneTurn: 0 };
      worker.start();
      for (let before = 0; handled.length < 40; before = handled.length) {
        await new Promise(setImmediate);
        most.inOneTurn = Math.max(most.inOneTurn, handled.length - before);
      }
      expect(most.inOneTurn).to.be.within(1, 4);
    });
});
