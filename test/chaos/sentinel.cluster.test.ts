import { expect } from 'chai';
import { randomOf } from '../support/random.js';
import { describeWithRedis } from '../support/redis-server.js';
import { ChaosCluster } from './chaos-cluster.js';
import { Closing } from './closing.js';
import type { Fault } from './faults.js';
import { type SentinelRedis, sentinelRedisUnderTest } from './stores/sentinel.js';
import { summaryOf, tryFaults } from './trial.js';

/** Raw readers beside those that each session has. */
const STREAMS = 200;
const LOAD = { sessions: { talk: 3, steady: 3, asks: 1 }, senders: 1, streams: STREAMS };

const FREE = { lostRuns: false, forgotten: false };

const FAULTS: readonly Fault[] = [
  {
    name: 'its primary is killed, and is a replica later',
    costs: FREE,
    async strike({ cluster: { store } }) {
      await store.failOver!();
      await store.start();
    },
  },
  {
    name: 'its primary stands still until it is replaced, and wakes up',
    costs: FREE,
    strike: ({ cluster: { store } }) => (store as SentinelRedis).outlive(),
  },
];

describeWithRedis('three gateways on a Redis under three Sentinels', function () {
  this.timeout(180_000);
  const closing = new Closing();

  afterEach(() => closing.close());

  for (const fault of FAULTS)
    it(`lose nothing and double nothing for 200 streams where ${fault.name}`, async () => {
      const random = randomOf(5);
      const cluster = await ChaosCluster.start({ under: sentinelRedisUnderTest, random, closing });
      const verdict = await tryFaults(cluster, [fault], { random, load: LOAD });
      console.log(`      ${summaryOf(verdict)}`);
      expect(verdict.violations.slice(0, 10), summaryOf(verdict)).to.deep.equal([]);
    });
});
