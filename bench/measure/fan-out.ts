import type { EventDoor } from '../peers/peer.js';
import { Load, Server } from '../rig/rig.js';
import { type Sample, type Settings, sleep } from './sample.js';

/** Deliveries at least before the ones that count. */
const WARMING_DELIVERIES = 5000;

export interface FanOut {
  readonly door: EventDoor;
  readonly subscribers: number;
  /** Sessions over which the subscribers are spread evenly. */
  readonly sessions: number;
  /** Events that are produced in one turn of the event loop. */
  readonly perTurn: number;
  /** Events that session `s0` holds already. */
  readonly stored?: number;
}

/** Events as fast as subscribers take them: deliveries a second, and the server's CPU for each. */
export async function measureFanOut(peer: string, fanOut: FanOut, settings: Settings): Promise<Sample> {
  const { door, subscribers, sessions, perTurn, stored = 0 } = fanOut;
  const server = await Server.start(peer, settings);
  let load: Load | undefined;
  try {
    const before = await server.tell({ do: 'memory' });
    if (stored > 0) await server.tell({ do: 'store', events: stored });
    const scripts = Array.from({ length: subscribers }, (_, n) => server.script(door, `s${n % sessions}`, n));
    load = await Load.connect(server, door, scripts);
    const { heap } = await server.tell({ do: 'memory' });
    // The first events begin the runs of all sessions, and have code compiled.
    const atLeast = Math.max(sessions * 8, (WARMING_DELIVERIES * sessions) / subscribers);
    await server.tell({ do: 'flood', ms: settings.ms / 2, sessions, perTurn, atLeast });
    await settled(load);
    await load.zero();
    const { emitted, startedAt } = await server.tell({ do: 'flood', ms: settings.ms, sessions, perTurn });
    const expected = (emitted * subscribers) / sessions;
    const { events, bytes, endedAt, cpu: generated } = await load.count(expected);
    const { micros: cpu } = await server.tell({ do: 'cpu' });
    const micros = endedAt - startedAt;
    return {
      value: (events / micros) * 1e6,
      cpu: cpu / events,
      bytes: bytes / events,
      lost: Math.abs(expected - events),
      load: generated / micros,
      more: { 'heap KiB': (heap - before.heap) / 1024 },
    };
  } finally {
    await load?.stop();
    await server.stop();
  }
}

/** Waits until nothing comes any more. */
async function settled(load: Load): Promise<void> {
  for (let before = -1, events = 0; events > before; ) {
    before = events;
    await sleep(100);
    ({ events } = await load.counts());
  }
}
