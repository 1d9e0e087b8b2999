import { expect } from 'chai';
import { isToday } from '../support/daily.js';
import { randomOf } from '../support/random.js';
import { ChaosCluster } from './chaos-cluster.js';
import { Closing } from './closing.js';
import { FAULTS, type Fault } from './faults.js';
import { LOAD } from './load.js';
import { describeCluster } from './stores/index.js';
import { summaryOf, tryFaults } from './trial.js';

/** Which seeds: `CHAOS_SEEDS` of them, from `CHAOS_FIRST` on. */
const COUNT = Number(process.env.CHAOS_SEEDS ?? 2);
const FIRST = Number(process.env.CHAOS_FIRST ?? 1);
const FAULTS_EACH = Number(process.env.CHAOS_LENGTH ?? 8);
/** Only faults whose names match: `CHAOS_FAULTS`. How many in a seed: `CHAOS_LENGTH`. */
const AMONG = new RegExp(process.env.CHAOS_FAULTS ?? '');

/** Every third seed has only faults that may cost nothing: what they cost in the others passes unseen. */
function faultsOf(seed: number, random: () => number, happens: (fault: Fault) => boolean): readonly Fault[] {
  const all = FAULTS.filter((fault) => happens(fault) && !fault.costs.forgotten && AMONG.test(fault.name));
  const free = all.filter(({ costs }) => !costs.lostRuns);
  const among = seed % 3 === 0 && free.length > 0 ? free : all;
  return Array.from({ length: FAULTS_EACH }, () => among[Math.floor(random() * among.length)]!);
}

describeCluster('three gateways on one store, with faults by chance', function (under, store) {
  this.timeout(300_000);

  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    // On one of the three stores a day, unless seeds are asked for.
    if (!process.env.CHAOS_SEEDS && !isToday(seed + store, 3)) continue;
    it(`keep their promises with seed ${seed}`, async () => {
      const closing = new Closing();
      const random = randomOf(seed);
      try {
        const cluster = await ChaosCluster.start({ under, random, closing });
        const faults = faultsOf(seed, random, ({ happensTo }) => happensTo?.(cluster.store) ?? true);
        const verdict = await tryFaults(cluster, faults, { random, load: LOAD });
        console.log(`      seed ${seed}: ${summaryOf(verdict)}`);
        const struck = faults.map(({ name }) => name).join('; ');
        expect(verdict.violations.slice(0, 10), `${summaryOf(verdict)}; ${struck}`).to.deep.equal([]);
      } finally {
        await closing.close();
      }
    });
  }
});
