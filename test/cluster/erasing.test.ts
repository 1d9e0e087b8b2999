import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { erasuresIn } from '../support/erasures.js';
import { type Gate, gate } from '../support/gate.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNode } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { byName } from '../support/users.js';

const USER = { id: 'ann' };

/** Gateways on one store, whose vacuums are counted and whose deletes the test may hold. */
function cluster() {
  const hub = new MemoryHub();
  const vacuums: string[] = [];
  const app = defineApp({ run: () => 'x' });
  const start = (name: string, held?: { readonly at: Gate; readonly door: Gate }): Promise<Node> =>
    startNode(hub, {
      app,
      auth: byName,
      limits: { storeMs: 60_000 },
      store: (inner) => {
        return overriding(inner, {
          vacuum: () => void vacuums.push(name),
          async remove(...given) {
            held?.at.open();
            await held?.door.passed;
            return inner.remove(...given);
          },
        });
      },
    });
  return { start, vacuums };
}

describe('an erasure where gateways share a store', () => {
  for (const vacuum of [false, true]) {
    it(`is left to the one that does it, with vacuum: ${vacuum}`, async () => {
      const { start, vacuums } = cluster();
      const held = { at: gate(), door: gate() };
      const a = await start('a', held);
      await a.gateway.session('main', { user: USER }).send('hello').result;
      const erased = a.gateway.erase({ user: USER }, { vacuum });
      await held.at.passed;
      // It looks for what was begun and not ended before it serves anybody.
      const b = await start('b');
      expect(vacuums, 'while it is under way').to.deep.equal([]);
      expect(await erasuresIn(b.node.store)).to.have.length(1);
      held.door.open();
      expect(await erased).to.include({ sessions: 1 });
      expect(vacuums).to.deep.equal(vacuum ? ['a'] : []);
      expect(await erasuresIn(b.node.store)).to.deep.equal([]);
    });

    it(`is gone on with where that one has died, and vacuumed as it was told to: ${vacuum}`, async () => {
      const { start, vacuums } = cluster();
      const held = { at: gate(), door: gate() };
      const a = await start('a', held);
      await a.gateway.session('main', { user: USER }).send('hello').result;
      a.gateway.erase({ user: USER }, { vacuum }).catch(() => {});
      await held.at.passed;
      a.node.kill();
      const b = await start('b');
      expect(await erasuresIn(b.node.store)).to.deep.equal([]);
      expect(vacuums).to.deep.equal(vacuum ? ['b'] : []);
      held.door.open();
    });
  }
});
