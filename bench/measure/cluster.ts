import { Engine, type EngineKind } from '../rig/engine.js';
import { Load, Server } from '../rig/rig.js';
import { millis, type Sample, type Settings, sleep } from './sample.js';

/** Gateways of one peer, on a store that they share or, where it is one alone, on its own. */
export interface Fleet {
  readonly nodes: readonly Server[];
  /** CPU of the store's processes so far, in microseconds; 0 where it has none. */
  engineCpu(): number;
}

const ENGINES: readonly EngineKind[] = ['redis', 'postgres'];

/** Starts them, with the store that they share where their variant names one. */
export async function withFleet(
  peer: string,
  count: number,
  settings: Settings,
  measure: (fleet: Fleet) => Promise<Sample>,
): Promise<Sample> {
  const kind = ENGINES.find((name) => peer.endsWith(`:${name}`));
  const engine = kind && (await Engine.start(kind));
  const nodes: Server[] = [];
  try {
    for (let n = 0; n < count; n++)
      nodes.push(await Server.start(peer, { ...settings, ...(engine && { storeUrl: engine.url }) }));
    return await measure({ nodes, engineCpu: () => engine?.cpu() ?? 0 });
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await engine?.stop();
  }
}

const tellAll = (nodes: readonly Server[]) => Promise.all(nodes.map((node) => node.tell({ do: 'zeroCpu' })));

async function cpuOf(nodes: readonly Server[]): Promise<readonly number[]> {
  return (await Promise.all(nodes.map((node) => node.tell({ do: 'cpu' })))).map(({ micros }) => micros);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Appends to a store without a gateway, to 100 sessions at once. */
export function measureAppend(peer: string, events: number, settings: Settings): Promise<Sample> {
  return withFleet(peer, 1, settings, async ({ nodes: [node], engineCpu }) => {
    const appends = { sessions: 100, events, appends: Math.ceil(settings.ms / 4) };
    await node!.tell({ do: 'append', ...appends, appends: 20 });
    await node!.tell({ do: 'zeroCpu' });
    const before = engineCpu();
    const { micros } = await node!.tell({ do: 'append', ...appends });
    const [cpu = 0] = await cpuOf([node!]);
    const total = appends.sessions * appends.appends * events;
    return {
      value: (total / micros) * 1e6,
      cpu: cpu / total,
      more: { "store's µs/event": (engineCpu() - before) / total },
    };
  });
}

/** Messages until they are accepted, to a gateway that holds the session or to another one, one after the other. */
export function measureAccepted(
  peer: string,
  asked: 'holder' | 'another',
  settings: Settings,
): Promise<Sample> {
  const isForwarded = asked === 'another';
  return withFleet(peer, isForwarded ? 2 : 1, settings, async ({ nodes, engineCpu }) => {
    const [holder, other] = nodes;
    await holder!.tell({ do: 'age', sessions: 1, message: 'sync:1' });
    const door = isForwarded ? other! : holder!;
    const load = await Load.connect(door, 'accept', [door.script('accept', 'sync:1', 0)]);
    try {
      await load.requests(50, 'http');
      await load.zero(true);
      await tellAll(nodes);
      const before = engineCpu();
      const total = Math.max(100, settings.ms);
      const { requests, refused, answerLatency } = await load.requests(total, 'http');
      const cpu = sum(await cpuOf(nodes));
      const { p50, p99 } = answerLatency;
      return {
        value: p50 / 1000,
        cpu: cpu / requests,
        lost: total - requests + refused,
        more: { 'p99 ms': p99 / 1000, "store's µs/send": (engineCpu() - before) / requests },
      };
    } finally {
      await load.stop();
    }
  });
}

/** From the production of an event, one every 5 ms, until it is read, at the gateway that holds the session or at another one. */
export function measureBehind(peer: string, read: 'holder' | 'another', settings: Settings): Promise<Sample> {
  const isElsewhere = read === 'another';
  return withFleet(peer, isElsewhere ? 2 : 1, settings, async ({ nodes }) => {
    const [holder, other] = nodes;
    await holder!.tell({ do: 'age', sessions: 1, message: 'paced:50:1' });
    const door = isElsewhere ? other! : holder!;
    const load = await Load.connect(door, 'sse', [door.script('sse', 'r0', 0)]);
    try {
      await sleep(200);
      await load.zero(true);
      await tellAll(nodes);
      const events = Math.max(100, settings.ms);
      await holder!.tell({ do: 'age', sessions: 1, message: `paced:${events}:5` });
      const says = events * holder!.saysDeltas;
      const counts = await load.count(says);
      const { p50, p99 } = counts.eventLatency;
      return {
        value: p50 / 1000,
        cpu: sum(await cpuOf(nodes)) / events,
        lost: Math.abs(says - counts.events),
        more: { 'p99 ms': p99 / 1000 },
      };
    } finally {
      await load.stop();
    }
  });
}

/** One session, 300 viewers spread over so many gateways, of which the first holds it. */
export function measureHot(peer: string, count: number, settings: Settings): Promise<Sample> {
  const viewers = 300 / count;
  return withFleet(peer, count, settings, async ({ nodes, engineCpu }) => {
    const [holder] = nodes;
    const loads: Load[] = [];
    const flood = (ms: number, atLeast = 0) =>
      holder!.tell({ do: 'flood', ms, sessions: 1, perTurn: 1, atLeast });
    try {
      for (const node of nodes)
        loads.push(
          await Load.connect(
            node,
            'sse',
            Array.from({ length: viewers }, (_, n) => node.script('sse', 's0', n)),
          ),
        );
      const warm = await flood(settings.ms / 4, 50);
      await Promise.all(loads.map((load) => load.count(warm.emitted * viewers)));
      await Promise.all([...loads.map((load) => load.zero()), tellAll(nodes)]);
      const before = engineCpu();
      const { emitted, startedAt } = await flood(settings.ms);
      const counted = await Promise.all(loads.map((load) => load.count(emitted * viewers, 60_000)));
      const cpus = await cpuOf(nodes);
      const delivered = sum(counted.map(({ events }) => events));
      const micros = Math.max(...counted.map(({ endedAt }) => endedAt)) - startedAt;
      return {
        value: (delivered / micros) * 1e6,
        cpu: sum(cpus) / delivered,
        lost: Math.abs(emitted * 300 - delivered),
        more: {
          'busiest node µs/event': Math.max(...cpus) / emitted,
          "store's µs/event": (engineCpu() - before) / emitted,
        },
      };
    } finally {
      await Promise.all(loads.map((load) => load.stop()));
    }
  });
}

/** 33 senders who wait for the ends of runs of 500 events, each at the gateway that holds their session, over so many gateways. */
export function measureNodes(peer: string, count: number, settings: Settings): Promise<Sample> {
  const clients = Math.floor(33 / count);
  const each = 500;
  return withFleet(peer, count, settings, async ({ nodes, engineCpu }) => {
    const loads: Load[] = [];
    try {
      for (const [at, node] of nodes.entries())
        loads.push(
          await Load.connect(
            node,
            'send',
            Array.from({ length: clients }, (_, n) => node.script('send', `turn:${each}`, at * clients + n)),
          ),
        );
      await Promise.all(loads.map((load) => load.requests(clients, 'http')));
      await tellAll(nodes);
      const before = engineCpu();
      const total = clients * 4;
      const counted = await Promise.all(loads.map((load) => load.requests(total, 'http')));
      const cpus = await cpuOf(nodes);
      const sends = sum(counted.map(({ requests }) => requests));
      const micros = Math.max(...counted.map((it) => it.micros));
      const events = sum(counted.map((it) => it.events));
      const expected = total * count * each * nodes[0]!.saysDeltas;
      return {
        value: (sends / micros) * 1e6,
        cpu: sum(cpus) / (sends * each),
        lost:
          total * count - sends + sum(counted.map(({ refused }) => refused)) + Math.abs(expected - events),
        more: {
          "store's µs/event": (engineCpu() - before) / (sends * each),
          ...millis('first event', counted[0]!.firstLatency),
        },
      };
    } finally {
      await Promise.all(loads.map((load) => load.stop()));
    }
  });
}
