import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { erasuresIn } from '../support/erasures.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { byName } from '../support/users.js';

/** A gateway whose vacuums wait for the test. */
async function vacuuming() {
  const doors = [gate(), gate(), gate()];
  const begun = [gate(), gate(), gate()];
  let vacuums = 0;
  const store = overriding(memoryStore(), {
    async vacuum() {
      const at = vacuums++;
      begun[at]!.open();
      await doors[at]!.passed;
    },
  });
  const { gateway } = await startGateway({ app: defineApp({ run: () => 'x' }), store, auth: byName });
  for (const id of ['ann', 'ben']) await gateway.session('main', { user: { id } }).send('hello').result;
  return { gateway, store, doors, begun, vacuums: () => vacuums };
}

describe('a vacuum', () => {
  it('is done once, though its gateway looks for what is left meanwhile', async () => {
    const clock = FakeTimers.install({ toFake: ['setInterval', 'clearInterval'] });
    closeLater(clock, (it) => it.uninstall());
    const { gateway, store, doors, begun, vacuums } = await vacuuming();
    const erased = gateway.erase({ user: { id: 'ann' } });
    await begun[0]!.passed;
    clock.tick(60_000);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    for (const door of doors) door.open();
    await erased;
    expect(vacuums()).to.equal(1);
    expect(await erasuresIn(store)).to.deep.equal([]);
  });

  it('counts for what was dropped before it began', async () => {
    const { gateway, store, doors, begun } = await vacuuming();
    const first = gateway.erase({ user: { id: 'ann' } });
    await begun[0]!.passed;
    const second = gateway.erase({ user: { id: 'ben' } });
    await begun[1]!.passed;
    doors[0]!.open();
    await first;
    expect(await erasuresIn(store), 'of the second').to.have.length(1);
    doors[1]!.open();
    await second;
    expect(await erasuresIn(store)).to.deep.equal([]);
  });
});
