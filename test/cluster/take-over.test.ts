import { expect } from 'chai';
import { defineApp, type Store } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNode } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';

const SESSIONS = 80;
/** How many are taken at a time. */
const LANES = 16;

const endless = defineApp({
  async *run(turn) {
    yield 'x';
    await new Promise((_, reject) => turn.signal.addEventListener('abort', () => reject(turn.signal.reason)));
  },
});

describe('what a gateway leaves that dies', () => {
  for (const alsoAtStart of [false, true])
    it(`is taken by another one, sixteen sessions at a time${alsoAtStart ? ', also where it was looking at its start still' : ''}`, async () => {
      const hub = new MemoryHub();
      const dead = await startNode(hub, { app: endless });
      for (let i = 0; i < SESSIONS; i++) await dead.gateway.session(`s${i}`).send('go').accepted;
      let atOnce = 0;
      let most = 0;
      let taken = 0;
      let isKilled = false;
      let looked = 0;
      const found = gate();
      const counting = (own: Store): Store =>
        overriding(own, {
          // What is looked for at the start is found beside what is found later, from its other end.
          async unfinished() {
            looked += 1;
            if (looked === 1 && alsoAtStart) {
              await found.passed;
              return [...(await own.unfinished())].reverse();
            }
            const orphans = isKilled ? await own.unfinished() : [];
            if (orphans.length > 0) found.open();
            return orphans;
          },
          async acquire(...args) {
            most = Math.max(most, ++atOnce);
            await new Promise(setImmediate);
            const acquired = await own.acquire(...args);
            atOnce -= 1;
            taken += 1;
            return acquired;
          },
        });
      await startNode(hub, { app: endless, store: counting });
      dead.node.kill();
      isKilled = true;
      await until(() => taken >= SESSIONS);
      expect(most).to.equal(LANES);
    });
});
