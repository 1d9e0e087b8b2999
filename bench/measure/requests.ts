import type { Script } from '../peers/peer.js';
import { Load, Server } from '../rig/rig.js';
import { millis, type Sample, type Settings } from './sample.js';

export type Call = 'invoke' | 'invokeWs';

export interface Before {
  /** Runs that each session has had, by a message to it. */
  readonly age?: { readonly sessions: number; readonly message: string };
  /** Whether a method was called in the process. */
  readonly invoked?: boolean;
}

/** Calls of a method, by clients that wait for each answer. */
export async function measureInvoke(
  peer: string,
  { door, clients }: { readonly door: Call; readonly clients: number },
  settings: Settings,
): Promise<Sample> {
  return withServer(peer, settings, async (server) => {
    const scripts = Array.from({ length: clients }, () => server.script(door));
    const load = await Load.connect(server, door, scripts);
    const answers = door === 'invokeWs' ? 'marked' : 'http';
    return finishing(load, async () => {
      await load.requests(clients * 60, answers);
      // As many as fit into the time, by what the ones before take.
      const { cpu = 1 } = await closedLoop(server, load, clients * 60, answers);
      const total = Math.round((settings.ms * 1000) / cpu);
      return closedLoop(server, load, Math.max(clients, total), answers);
    });
  });
}

/** Messages whose runs are streamed to their senders, who wait for the end. */
export async function measureSend(
  peer: string,
  {
    message,
    clients,
    rounds,
    before = {},
  }: {
    readonly message: string;
    readonly clients: number;
    readonly rounds: number;
    readonly before?: Before;
  },
  settings: Settings,
): Promise<Sample> {
  return withServer(peer, settings, async (server) => {
    if (before.age) await server.tell({ do: 'age', ...before.age });
    if (before.invoked) {
      const caller = await Load.connect(server, 'invoke', [server.script('invoke')]);
      await finishing(caller, () => caller.requests(1, 'http'));
    }
    const scripts: Script[] = Array.from({ length: clients }, (_, n) => server.script('send', message, n));
    const load = await Load.connect(server, 'send', scripts);
    return finishing(load, async () => {
      await load.requests(clients, 'http');
      return closedLoop(server, load, clients * rounds, 'http', eventsOf(message));
    });
  });
}

/** Events of the run that answers a message of `reply`. */
const eventsOf = (message: string): number => Number(message.split(':')[1]);

async function closedLoop(
  server: Server,
  load: Load,
  total: number,
  answers: 'http' | 'marked',
  eventsEach = 0,
): Promise<Sample> {
  await server.tell({ do: 'zeroCpu' });
  const counts = await load.requests(total, answers);
  const { micros: cpu } = await server.tell({ do: 'cpu' });
  const { requests, refused, events, micros } = counts;
  const lostEvents = eventsEach > 0 ? Math.abs(total * eventsEach * server.saysDeltas - events) : 0;
  return {
    value: (requests / micros) * 1e6,
    cpu: cpu / requests,
    lost: total - requests + refused + lostEvents,
    load: counts.cpu / micros,
    more:
      eventsEach > 0
        ? {
            'µs/event': cpu / (total * eventsEach),
            ...millis('first event', counts.firstLatency),
            ...millis('event', counts.eventLatency),
          }
        : millis('answer', counts.answerLatency),
  };
}

async function withServer<T>(
  peer: string,
  settings: Settings,
  measure: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await Server.start(peer, settings);
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

async function finishing<T>(load: Load, measure: () => Promise<T>): Promise<T> {
  try {
    return await measure();
  } finally {
    await load.stop();
  }
}
