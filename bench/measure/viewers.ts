import type { EventDoor } from '../peers/peer.js';
import { Load, Server } from '../rig/rig.js';
import { type Sample, type Settings, sleep } from './sample.js';

const PIECE_MS = 20;
const WARM_MS = 2000;
const MEASURED_MS = 5000;

/** From when a piece of one answer was due, 50 a second, until each of its viewers has read it. */
export async function measureViewers(
  peer: string,
  { door, viewers }: { readonly door: EventDoor; readonly viewers: number },
  settings: Settings,
): Promise<Sample> {
  const server = await Server.start(peer, settings);
  let load: Load | undefined;
  try {
    const scripts = Array.from({ length: viewers }, (_, n) => server.script(door, 's0', n));
    load = await Load.connect(server, door, scripts);
    await server.tell({ do: 'pace', ms: WARM_MS, everyMs: PIECE_MS });
    await sleep(500);
    await load.zero(true);
    const { emitted, micros: cpu } = await server.tell({ do: 'pace', ms: MEASURED_MS, everyMs: PIECE_MS });
    const { events, eventLatency, cpu: generated, micros } = await load.count(emitted * viewers);
    return {
      value: eventLatency.p99 / 1000,
      cpu: cpu / (emitted * viewers),
      lost: Math.abs(emitted * viewers - events),
      load: generated / micros,
      more: { 'p50 ms': eventLatency.p50 / 1000, '% of a core': cpu / (MEASURED_MS * 10) },
    };
  } finally {
    await load?.stop();
    await server.stop();
  }
}
