import { Load, type Server } from '../rig/rig.js';
import { withFleet } from './cluster.js';
import { type Sample, type Settings, sleep } from './sample.js';

export type OpenDoor = 'send' | 'sendWs';

/** An answer as a model gives it: so many pieces, one each 20 ms, for 8 s. */
const PIECES = 400;
const PIECE_MS = 20;
const ANSWER_MS = PIECES * PIECE_MS;
/** Until as many answers end as begin, and code that ends them has run for some time: what runs first is compiled while others wait. */
const WARM_MS = ANSWER_MS + 4000;
/** How late 99 of 100 pieces may be read, from when they were due, for their server to carry the load. */
const LATE_MS = 100;

/** Answers at the same time that are tried. */
const STEPS = [
  ...[10, 25, 50, 75, 100, 125, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000],
  ...[1200, 1400, 1600, 2000, 2500, 3000],
];

interface Trial {
  readonly p50: number;
  readonly p99: number;
  /** Share of a core that the server used. */
  readonly core: number;
  /** Microseconds of its CPU, and of its store's, for a piece. */
  readonly cpu: number;
  readonly store: number;
  readonly load: number;
  /** Requests that were refused, or that no client was free for. */
  readonly failed: number;
}

const isCarried = ({ failed, p99 }: Trial): boolean => failed === 0 && p99 <= LATE_MS;

/**
 * How many answers a server carries: people send whenever they like, each answer takes its 8 s, and of all pieces 99 in 100 are read
 * within 100 ms of when they were due. Found by halves, in some eight trials of 20 s, each with new processes.
 */
export async function measureCarried(peer: string, door: OpenDoor, settings: Settings): Promise<Sample> {
  const trial = (answers: number) => tryWith(peer, door, answers, settings);
  let [carried, tooMany] = [-1, STEPS.length];
  let best: Trial | undefined;
  while (tooMany - carried > 1) {
    const middle = (carried + tooMany) >> 1;
    let tried = await trial(STEPS[middle]!);
    // What else the machine does can make one trial fail, and no trial succeed.
    if (!isCarried(tried)) tried = await trial(STEPS[middle]!);
    if (isCarried(tried)) [carried, best] = [middle, tried];
    else tooMany = middle;
  }
  if (!best) throw new Error(`${peer} does not carry ${STEPS[0]} answers`);
  const answers = STEPS[carried]!;
  const quarter = await trial(Math.round(answers / 4));
  return {
    value: answers,
    cpu: best.cpu,
    load: best.load,
    more: {
      'p50 ms': best.p50,
      'p99 ms': best.p99,
      '% of a core': best.core * 100,
      'p99 ms at a quarter': quarter.p99,
      ...(best.store > 0 && { "store's µs/piece": best.store }),
    },
  };
}

/** One load, for comparing what servers need for the same. @param lanes Child runs that say the pieces of an answer by turns */
export async function measureAtLoad(
  peer: string,
  door: OpenDoor,
  answers: number,
  settings: Settings & { readonly lanes?: number },
): Promise<Sample> {
  const { p50, p99, core, cpu, store, load, failed } = await tryWith(peer, door, answers, settings);
  return {
    value: p99,
    cpu,
    load,
    lost: failed,
    more: { 'p50 ms': p50, '% of a core': core * 100, ...(store > 0 && { "store's µs/piece": store }) },
  };
}

function tryWith(
  peer: string,
  door: OpenDoor,
  answers: number,
  { lanes, ...settings }: Settings & { readonly lanes?: number },
): Promise<Trial> {
  let trial: Trial | undefined;
  const message = `${lanes === undefined ? 'open' : `lanes:${lanes}`}:${PIECES}:${PIECE_MS}`;
  return withFleet(peer, 1, settings, async ({ nodes: [server], engineCpu }) => {
    trial = await tryAt(server!, { door, message }, answers, engineCpu);
    return { value: trial.p99 };
  }).then(() => trial!);
}

async function tryAt(
  server: Server,
  { door, message }: { readonly door: OpenDoor; readonly message: string },
  answers: number,
  engineCpu: () => number,
): Promise<Trial> {
  // More than there are answers: where a server is late, its answers end late, and others begin all the same.
  const clients = Math.ceil(answers * 1.5) + 10;
  const scripts = Array.from({ length: clients }, (_, n) => server.script(door, message, n));
  const load = await Load.connect(server, door, scripts);
  try {
    await load.rate((answers * 1000) / ANSWER_MS, door === 'sendWs' ? 'marked' : 'http');
    await sleep(WARM_MS);
    await load.zero(true);
    await server.tell({ do: 'zeroCpu' });
    const before = engineCpu();
    await sleep(ANSWER_MS);
    const { eventLatency, cpu: generated, refused, late, closed } = await load.counts();
    const { micros } = await server.tell({ do: 'cpu' });
    const pieces = answers * PIECES;
    return {
      p50: eventLatency.p50 / 1000,
      p99: eventLatency.p99 / 1000,
      core: micros / (ANSWER_MS * 1000),
      cpu: micros / pieces,
      store: (engineCpu() - before) / pieces,
      load: generated / (ANSWER_MS * 1000),
      failed: refused + late + closed,
    };
  } finally {
    await load.stop();
  }
}
