import { expect } from 'chai';
import { isToday } from '../support/daily.js';
import { randomOf } from '../support/random.js';
import { ChaosCluster } from './chaos-cluster.js';
import { Closing } from './closing.js';
import { FAULTS } from './faults.js';
import { describeCluster } from './stores/index.js';
import { summaryOf, tryFaults } from './trial.js';

const ONE_OF_EACH = { sessions: { talk: 2, steady: 1, asks: 1 }, senders: 1 };

describeCluster('three gateways on one store', (under, store) => {
  const closing = new Closing();
  const random = randomOf(7);
  let cluster: ChaosCluster;

  before(async () => {
    cluster = await ChaosCluster.start({ under, random, closing });
  });

  after(() => closing.close());

  // What a former test has left broken.
  beforeEach(() => cluster.calm());

  for (const [number, fault] of FAULTS.entries()) {
    // A fault that can happen to each of the three stores happens to one of them a day.
    if (!fault.happensTo && !isToday(number + store, 3)) continue;
    it(`keep their promises through ${fault.name}`, async function () {
      if (!(fault.happensTo?.(cluster.store) ?? true)) return this.skip();
      const verdict = await tryFaults(cluster, [fault], {
        random,
        load: { ...ONE_OF_EACH, prefix: `f${number}` },
      });
      expect(verdict.violations.slice(0, 10), summaryOf(verdict)).to.deep.equal([]);
    });
  }
});
