import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { describeWith } from '../support/describe-with.js';
import { hasPostgres } from '../support/postgres-server.js';
import { randomOf } from '../support/random.js';
import { hasRedis } from '../support/redis-server.js';
import { ChaosCluster, LEASE_MS } from './chaos-cluster.js';
import { Closing } from './closing.js';
import { LOAD } from './load.js';
import { ClockedPostgres, ClockedRedis, type ClockedStore, hasCompiler } from './stores/clocked.js';
import { summaryOf, tryFaults } from './trial.js';

const HOUR_S = 3600;

const STORES: readonly (readonly [name: string, isThere: boolean, make: () => ClockedStore])[] = [
  ['PostgreSQL', hasPostgres, () => new ClockedPostgres()],
  ['redis-server, with a compiler of C', hasRedis && hasCompiler, () => new ClockedRedis()],
];

for (const [name, isThere, make] of STORES)
  describeWith({ name, isThere }, `three gateways on a store whose clock is set: ${name}`, function () {
    this.timeout(180_000);
    const closing = new Closing();

    afterEach(() => closing.close());

    for (const [way, jumps] of Object.entries({
      'on by an hour, and back': [HOUR_S, 0],
      'back by an hour, and on': [-HOUR_S, 0],
    }))
      it(`keep their promises where it is set ${way}`, async () => {
        const random = randomOf(3);
        const store = make();
        const cluster = await ChaosCluster.start({ under: async () => store, random, closing });
        const fault = {
          name: way,
          costs: { lostRuns: false, forgotten: false },
          async strike() {
            for (const seconds of jumps) {
              await store.set(seconds);
              await delay(3 * LEASE_MS);
            }
          },
        };
        const verdict = await tryFaults(cluster, [fault], { random, load: LOAD });
        expect(verdict.violations.slice(0, 10), summaryOf(verdict)).to.deep.equal([]);
      });
  });
