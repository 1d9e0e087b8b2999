import { expect } from 'chai';
import { NOTE, Notes } from '../../server/cluster/notes.js';
import { DueWorker } from '../../server/due/due-worker.js';
import { forgetWhenDue } from '../../server/due/forgotten.js';
import type { Store } from '../../server/stores/store.js';
import { MemoryHub } from '../support/memory-hub.js';
import { closeLater } from '../support/resources.js';
import { ENGINES } from '../support/stores.js';
import { until } from '../support/until.js';

const LONG = { ttlMs: 60_000 };

/** Two gateways' ways to one store. */
const STORES: Record<string, () => readonly [Store, Store]> = {
  ...Object.fromEntries(
    Object.entries(ENGINES).map(([name, make]) => [
      name,
      () => {
        const store = make();
        return [store, store] as const;
      },
    ]),
  ),
  'a shared one': () => {
    const hub = new MemoryHub();
    return [hub.node().store, hub.node().store];
  },
};

for (const [name, make] of Object.entries(STORES)) {
  describe(`notes (${name})`, () => {
    async function setUp() {
      const [store, other] = make();
      await store.open();
      closeLater(store, (it) => it.close());
      return { store, here: new Notes(store), there: new Notes(other) };
    }

    it('are read by all, replaced, and dropped', async () => {
      const { here, there } = await setUp();
      expect(await there.get('note')).to.equal(null);
      expect(await here.put('note', 'one "ä😀\n', LONG)).to.equal(true);
      expect(await there.get('note')).to.equal('one "ä😀\n');
      expect(await there.put('note', 'two', LONG)).to.equal(true);
      expect(await here.get('note')).to.equal('two');
      expect(await here.get('other')).to.equal(null);
      await here.drop('note');
      await here.drop('note');
      expect(await there.get('note')).to.equal(null);
    });

    it('are kept by the first alone who asks for that', async () => {
      const { here, there } = await setUp();
      const once = { ...LONG, once: true };
      const puts = Array.from({ length: 6 }, (_, i) => (i % 2 ? here : there).put('once', `${i}`, once));
      expect((await Promise.all(puts)).filter(Boolean)).to.have.length(1);
      expect(await here.put('once', 'same', once)).to.equal(false);
      await there.drop('once');
      expect(await here.put('once', 'anew', once)).to.equal(true);
      expect(await there.get('once')).to.equal('anew');
    });

    it('are forgotten after their time, before anybody removes them', async () => {
      const { here, there } = await setUp();
      await here.put('short', '1', { ttlMs: 30 });
      await here.put('long', '2', LONG);
      await until(async () => (await there.get('short')) === null);
      const once = { ...LONG, once: true };
      const puts = [here, there, here].map((notes) => notes.put('short', '3', once));
      expect((await Promise.all(puts)).filter(Boolean)).to.have.length(1);
      expect(await here.get('long')).to.equal('2');
    });

    it('leave the store when they are over', async () => {
      const { store, here } = await setUp();
      const homes = new Set<string>();
      const changeRecords: Store['changeRecords'] = (home, ...rest) => {
        homes.add(JSON.stringify(home));
        return store.changeRecords(home, ...rest);
      };
      const notes = new Notes({
        changeRecords,
        records: (query) => store.records(query),
        ...(store.shared && { shared: store.shared }),
      });
      for (let i = 0; i < 9; i++) await notes.put(`short ${i}`, '1', { ttlMs: 20 });
      await here.put('long', '2', LONG);
      const due = closeLater(new DueWorker({ store, report: () => {}, format: ({ name }) => name }), (it) =>
        it.stop(0),
      );
      forgetWhenDue(due, store, [NOTE]);
      due.start();
      const left = async () => {
        const pages = [...homes].map((home) => store.records({ home: JSON.parse(home), limit: 99 }));
        return (await Promise.all(pages)).flat();
      };
      await until(async () => (await left()).length === 0);
      expect(await here.get('long')).to.equal('2');
    });
  });
}
