import type { EventDoor } from '../peers/peer.js';
import { Load, Server } from '../rig/rig.js';
import { type Sample, type Settings, sleep } from './sample.js';

/** Memory of the server for each client that is connected and idle, all on one session. */
export async function measureConnections(
  peer: string,
  { door, clients }: { readonly door: EventDoor; readonly clients: number },
  settings: Settings,
): Promise<Sample> {
  const server = await Server.start(peer, settings);
  const connect = (count: number) =>
    Load.connect(
      server,
      door,
      Array.from({ length: count }, (_, n) => server.script(door, 's0', n)),
    );
  try {
    // Code is compiled, and pools are filled, by the first ones.
    await (await connect(200)).stop();
    await sleep(300);
    const before = await server.tell({ do: 'memory' });
    const load = await connect(clients);
    try {
      await sleep(500);
      const { rss, heap } = await server.tell({ do: 'memory' });
      return {
        value: (rss - before.rss) / clients / 1024,
        more: { 'heap KiB': (heap - before.heap) / clients / 1024 },
      };
    } finally {
      await load.stop();
    }
  } finally {
    await server.stop();
  }
}

/** Memory for each session that nobody looks at. */
export async function measureSessions(peer: string, sessions: number, settings: Settings): Promise<Sample> {
  const server = await Server.start(peer, settings);
  try {
    await server.tell({ do: 'idle', sessions: 100 });
    const before = await server.tell({ do: 'memory' });
    await server.tell({ do: 'idle', sessions });
    const { rss, heap } = await server.tell({ do: 'memory' });
    return {
      value: (rss - before.rss) / sessions / 1024,
      more: { 'heap KiB': (heap - before.heap) / sessions / 1024 },
    };
  } finally {
    await server.stop();
  }
}
