import { setTimeout as delay } from 'node:timers/promises';
import { type ChaosCluster, LEASE_MS } from './chaos-cluster.js';
import type { ChaosNode } from './chaos-node.js';
import type { Costs } from './history.js';
import type { StoreUnderTest } from './stores/store-under-test.js';

/** On whom a fault comes. */
export interface FaultTarget {
  readonly cluster: ChaosCluster;
  /** A gateway that holds a session which is in use. */
  readonly holder: ChaosNode;
  /** One that does not hold that session. */
  readonly other: ChaosNode;
  readonly random: () => number;
}

/** Something that goes wrong, and is whole again once this has resolved. */
export interface Fault {
  readonly name: string;
  /** What it may cost; no more than that. */
  readonly costs: Costs;
  /** Whether it can happen to a store. @default to any */
  readonly happensTo?: (store: StoreUnderTest) => boolean;
  strike(target: FaultTarget): Promise<void>;
}

const FREE: Costs = { lostRuns: false, forgotten: false };
const RUNS: Costs = { lostRuns: true, forgotten: false };
const FORGOTTEN: Costs = { lostRuns: true, forgotten: true };

/** Connections for three gateways that would have up to 45. */
const SPARE = 9;

/** So many leases, and up to as many more. */
const leases = (random: () => number, least: number, more: number): Promise<void> =>
  delay(LEASE_MS * (least + random() * more));

async function killAndStart(node: ChaosNode, random: () => number): Promise<void> {
  await node.kill();
  await leases(random, 0.2, 2);
  await node.start();
}

async function freeze(node: ChaosNode, random: () => number): Promise<void> {
  node.freeze();
  await leases(random, 1.5, 1);
  node.thaw();
}

/** What the line of a holder to the store does for a while. */
const LINE = [
  ['a gateway that is cut off from the store', 'cut'],
  ['a line to the store that carries nothing', 'held'],
] as const;

const brokenLine = (
  [name, state]: (typeof LINE)[number],
  [least, more]: readonly [number, number],
): Fault => ({
  name: `${name} for ${least < 1 ? 'a moment' : 'longer than a lease'}`,
  costs: least < 1 ? FREE : RUNS,
  async strike({ holder, random }) {
    holder.back.set(state);
    await leases(random, least, more);
    holder.back.set('open');
  },
});

/** Waits for some leases in a state that a function ends. */
async function during(begun: Promise<() => Promise<void>>, random: () => number): Promise<void> {
  const end = await begun;
  await leases(random, 1, 2);
  await end();
}

/** The faults of docs/cluster.md, each with what it may cost. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'kill -9 of the gateway that holds a session',
    costs: RUNS,
    strike: ({ holder, random }) => killAndStart(holder, random),
  },
  {
    name: 'kill -9 of another gateway',
    // It holds other sessions.
    costs: RUNS,
    strike: ({ other, random }) => killAndStart(other, random),
  },
  {
    name: 'a holder that stands still for longer than its lease',
    costs: RUNS,
    strike: ({ holder, random }) => freeze(holder, random),
  },
  ...LINE.flatMap((line) => [brokenLine(line, [0.1, 0.3]), brokenLine(line, [1.5, 1.5])]),
  {
    name: 'lines to the store that are cut again and again',
    costs: FREE,
    async strike({ cluster, random }) {
      for (let cut = 0; cut < 25; cut++) {
        cluster.nodes[Math.floor(random() * cluster.nodes.length)]!.back.sever();
        await delay(random() * 120);
      }
    },
  },
  {
    name: 'a slow store',
    costs: FREE,
    async strike({ cluster, random }) {
      for (const { back } of cluster.nodes) back.delayMs = 20 + random() * 80;
      await leases(random, 1.5, 1);
      for (const { back } of cluster.nodes) back.delayMs = 0;
    },
  },
  {
    name: 'clients that are cut off from a gateway',
    costs: FREE,
    async strike({ holder, other, random }) {
      for (const node of [holder, other]) {
        node.front.set(random() < 0.5 ? 'cut' : 'held');
        await leases(random, 0.3, 0.7);
        node.front.set('open');
      }
    },
  },
  {
    name: 'kill -9 of the store, which starts again with what it has written',
    // While it is away no lease is renewed: nobody may take that for a death.
    costs: FREE,
    async strike({ cluster: { store }, random }) {
      await store.kill();
      await leases(random, 0.2, 0.8);
      await store.start();
    },
  },
  {
    name: 'a store whose connections are cut, and taken by others',
    costs: FREE,
    happensTo: ({ exhaust }) => exhaust !== undefined,
    strike: ({ cluster: { store }, random }) => during(store.exhaust!(), random),
  },
  {
    name: 'a store that has connections for some of what its gateways want',
    costs: FREE,
    happensTo: ({ exhaust }) => exhaust !== undefined,
    async strike({ cluster: { store }, random }) {
      const end = await store.exhaust!(SPARE);
      // Long enough for whoever has none to lose its lease.
      await leases(random, 4, 2);
      await end();
    },
  },
  {
    name: 'a store that has no room left',
    costs: FREE,
    happensTo: ({ fill }) => fill !== undefined,
    strike: ({ cluster: { store }, random }) => during(store.fill!(), random),
  },
  {
    name: 'a store that forgets its last moments, while the gateways live',
    costs: FORGOTTEN,
    happensTo: ({ killForgetful }) => killForgetful !== undefined,
    async strike({ cluster: { store } }) {
      await store.killForgetful!();
      await store.start();
    },
  },
  {
    name: 'a failover to a replica that lags behind',
    costs: FORGOTTEN,
    happensTo: ({ failOver }) => failOver !== undefined,
    async strike({ cluster: { store, nodes } }) {
      await store.failOver!();
      for (const { back } of nodes) {
        back.target = store.port;
        back.sever();
      }
    },
  },
  {
    name: 'a store that forgets its last moments, and so do all gateways',
    costs: FORGOTTEN,
    happensTo: ({ killForgetful }) => killForgetful !== undefined,
    async strike({ cluster: { store, nodes } }) {
      await Promise.all([store.killForgetful!(), ...nodes.map((node) => node.kill())]);
      await store.start();
      await Promise.all(nodes.map((node) => node.start()));
    },
  },
  {
    name: 'the end of all gateways',
    costs: RUNS,
    async strike({ cluster: { nodes } }) {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map((node) => node.start()));
    },
  },
  {
    name: 'a wall clock that jumps by an hour',
    costs: FREE,
    async strike({ holder, random }) {
      holder.jump();
      await leases(random, 1, 1);
      holder.jump();
    },
  },
  {
    name: 'a rolling restart',
    costs: FREE,
    async strike({ cluster: { nodes } }) {
      for (const node of nodes) {
        await node.drain();
        await node.start();
      }
    },
  },
];
