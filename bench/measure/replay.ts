import { Load, Server } from '../rig/rig.js';
import type { Sample, Settings } from './sample.js';

/** A session's events from the first one on, read by clients that connect at once. */
export async function measureReplay(
  peer: string,
  { events, clients }: { readonly events: number; readonly clients: number },
  settings: Settings,
): Promise<Sample> {
  const server = await Server.start(peer, settings);
  let load: Load | undefined;
  try {
    await server.tell({ do: 'store', events });
    const script = server.script('replay');
    const connect = (count: number) =>
      Load.connect(
        server,
        'replay',
        Array.from({ length: count }, () => script),
      );
    // The first one has code compiled.
    const first = await connect(1);
    await first.fire(events);
    await first.stop();
    load = await connect(clients);
    await server.tell({ do: 'zeroCpu' });
    const counts = await load.fire(events * clients);
    const { micros: cpu } = await server.tell({ do: 'cpu' });
    return {
      value: (counts.events / counts.micros) * 1e6,
      cpu: cpu / counts.events,
      bytes: counts.bytes / counts.events,
      lost: Math.abs(events * clients - counts.events),
      load: counts.cpu / counts.micros,
    };
  } finally {
    await load?.stop();
    await server.stop();
  }
}
