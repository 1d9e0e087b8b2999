import { expect } from 'chai';
import { parseCursor } from '../../shared/cursor.js';
import { randomOf } from '../support/random.js';
import { describeWithRedis } from '../support/redis-server.js';
import { ChaosCluster, LEASE_MS } from './chaos-cluster.js';
import { Closing } from './closing.js';
import type { Fault } from './faults.js';
import type { Costs, Reading } from './history.js';
import { LOAD } from './load.js';
import { ephemeralRedisUnderTest } from './stores/ephemeral-redis.js';
import { summaryOf, tryFaults, type Verdict } from './trial.js';

const ALL: Costs = { lostRuns: true, forgotten: true };

/** The store ends, and is there again with nothing. */
async function restart({ store }: ChaosCluster): Promise<void> {
  await store.kill();
  await store.start();
}

/** Tries one fault on a cluster of its own. */
async function tryOn(fault: Fault): Promise<Verdict> {
  const closing = new Closing();
  const random = randomOf(11);
  try {
    const cluster = await ChaosCluster.start({ under: ephemeralRedisUnderTest, random, closing });
    return await tryFaults(cluster, [fault], { random, load: LOAD });
  } finally {
    await closing.close();
  }
}

/** The epochs of the conversations that a reader was shown, in order, and why it was told of gaps between them. */
function tellsOf({ shown }: Reading): {
  readonly epochs: readonly string[];
  readonly gaps: readonly string[];
} {
  const epochs = shown.flatMap((item) =>
    item.kind === 'event' ? [parseCursor(item.event.cursor)!.epoch] : [],
  );
  return {
    epochs: [...new Set(epochs)],
    gaps: shown.flatMap((item) => (item.kind === 'gap' ? [item.reason] : [])),
  };
}

/** Every session has begun anew, and whoever read it was told so, with no other reason. */
function expectBegunAnew(verdict: Verdict): void {
  expect(verdict.violations.slice(0, 10), summaryOf(verdict)).to.deep.equal([]);
  for (const reading of verdict.history.readings) {
    const { epochs, gaps } = tellsOf(reading);
    expect(gaps, reading.reader).to.deep.equal(['epoch']);
    expect(epochs, reading.reader).to.have.length(2);
  }
}

describeWithRedis('three gateways on a Redis without persistence that ends and starts again', () => {
  it('begin the sessions anew, with a gap', async () => {
    const verdict = await tryOn({
      name: 'a Redis without persistence that starts again',
      costs: ALL,
      strike: ({ cluster }) => restart(cluster),
    });
    expectBegunAnew(verdict);
  });

  it('begin the sessions anew when they stood still meanwhile', async () => {
    const verdict = await tryOn({
      name: 'a Redis without persistence that starts again, while the gateways stand still',
      costs: ALL,
      async strike({ cluster }) {
        const { nodes } = cluster;
        for (const node of nodes) node.freeze();
        await restart(cluster);
        await new Promise((resolve) => setTimeout(resolve, LEASE_MS * 1.5));
        for (const node of nodes) node.thaw();
      },
    });
    expectBegunAnew(verdict);
  });

  it('begin the sessions anew when they ended with it', async () => {
    const verdict = await tryOn({
      name: 'the end of a Redis without persistence, and of all gateways',
      costs: ALL,
      async strike({ cluster }) {
        const { nodes } = cluster;
        await Promise.all(nodes.map((node) => node.kill()));
        await restart(cluster);
        await Promise.all(nodes.map((node) => node.start()));
      },
    });
    expectBegunAnew(verdict);
  });
});
