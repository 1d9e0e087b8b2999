import { Load, Server } from '../rig/rig.js';
import { type Settings, sleep } from './sample.js';

/** So few that each soon is older than its retention, and has as many messages as are kept in memory. */
const SESSIONS = 16;
const EVENTS = 100;
const MESSAGE = `turn:${EVENTS}`;
const TARGET = 0.8;
const FIRST_RATE = 50;
const CALIBRATIONS = 6;
const CALIBRATION_MS = 3000;
const CATCH_UP_MS = 5000;
/** Time after which what waited for a full collection is behind. */
const SETTLE_MS = 1000;

export interface Minute {
  /** Share of a core that the server used. */
  readonly cpu: number;
  readonly sends: number;
  readonly firstP99Ms: number;
  readonly eventP50Ms: number;
  readonly eventP99Ms: number;
  /** At its end. */
  readonly rssMiB: number;
  /** What a full collection of garbage leaves then. */
  readonly liveMiB: number;
  /** Sends that no free client was left for, in this period. */
  readonly late: number;
  readonly refused: number;
  readonly closed: number;
}

export interface Soak {
  readonly sendsPerSecond: number;
  /** Events that the viewers have not seen, of those that the senders were answered, from the first to the last; negative for some they saw twice. */
  readonly lost: number;
}

/**
 * Sends at a rate that keeps the server at 80% of a core, each answered by a run of 100 events, which its sender and a viewer of the
 * session read. With SQLite, as messages and the outcomes of runs are kept: in memory they could only grow.
 */
export async function soak(
  seconds: number,
  settings: Settings,
  report: (period: Minute, n: number) => void,
  peer = 'gateway:sqlite',
): Promise<Soak> {
  const server = await Server.start(peer, settings);
  const loads: Load[] = [];
  const connect = async (door: 'sse' | 'send'): Promise<Load> => {
    const scripts = Array.from({ length: SESSIONS }, (_, n) =>
      door === 'sse' ? server.script('sse', `r${n}`, n) : server.script('send', MESSAGE, n),
    );
    const load = await Load.connect(server, door, scripts);
    loads.push(load);
    return load;
  };
  try {
    const viewers = await connect('sse');
    const senders = await connect('send');
    const caller = await Load.connect(server, 'invoke', [server.script('invoke')]);
    loads.push(caller);
    await caller.requests(1, 'http');
    await senders.requests(SESSIONS * 4, 'http');
    const perSecond = await calibrate(server, senders);
    const period = Math.min(60, seconds);
    await drained(senders);
    await senders.rate(perSecond);
    for (let n = 1; n * period <= seconds; n++) {
      await Promise.all([viewers.zero(true), senders.zero(true)]);
      await server.tell({ do: 'zeroCpu' });
      await sleep(period * 1000);
      const { micros } = await server.tell({ do: 'cpu' });
      const { rss } = await server.tell({ do: 'rss' });
      const isLast = (n + 1) * period > seconds;
      if (isLast) {
        await senders.rate(0);
        await drained(senders);
      }
      const [sent, watched] = await Promise.all([senders.counts(), viewers.counts()]);
      const { heap } = await server.tell({ do: 'memory' });
      await sleep(SETTLE_MS);
      report(
        {
          cpu: micros / (period * 1e6),
          sends: sent.requests,
          firstP99Ms: sent.firstLatency.p99 / 1000,
          eventP50Ms: watched.eventLatency.p50 / 1000,
          eventP99Ms: watched.eventLatency.p99 / 1000,
          rssMiB: rss / 2 ** 20,
          liveMiB: heap / 2 ** 20,
          late: sent.late,
          refused: sent.refused,
          closed: sent.closed + watched.closed,
        },
        n,
      );
    }
    const { eventsEver } = await senders.counts();
    return { sendsPerSecond: perSecond, lost: await missing(viewers, eventsEver) };
  } finally {
    for (const load of loads) await load.stop();
    await server.stop();
  }
}

/** Looks for the rate that keeps the server as busy as it should be, or for that part of what it can answer where the machine is not its own. */
async function calibrate(server: Server, senders: Load): Promise<number> {
  let perSecond = FIRST_RATE;
  for (let n = 0; n < CALIBRATIONS; n++) {
    await senders.rate(perSecond);
    await sleep(1000);
    await Promise.all([server.tell({ do: 'zeroCpu' }), senders.zero()]);
    await sleep(CALIBRATION_MS);
    const [{ micros }, { late, requests }] = await Promise.all([
      server.tell({ do: 'cpu' }),
      senders.counts(),
    ]);
    if (late > 0) perSecond = (requests / CALIBRATION_MS) * 1000 * TARGET;
    else perSecond *= Math.min(2, TARGET / (micros / 1000 / CALIBRATION_MS));
  }
  await senders.rate(0);
  return Math.round(perSecond);
}

/** How many of the events that senders were answered the viewers have not seen, once they had time for it; negative where they saw more. */
async function missing(viewers: Load, answered: number): Promise<number> {
  const until = performance.now() + CATCH_UP_MS;
  for (;;) {
    const lost = answered - (await viewers.counts()).eventsEver;
    if (lost === 0 || performance.now() > until) return lost;
    await sleep(20);
  }
}

/** Waits until every send is answered. */
async function drained(senders: Load): Promise<void> {
  while ((await senders.counts()).waiting > 0) await sleep(20);
}
