// crash-program <place of the store> <file>: a gateway whose runs begin three levels of children, and write what their steps do into the file.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Child, createGateway, defineApp, type Turn } from '../../server/index.js';
import { TOKEN } from '../support/gateway.js';
import { storeAt } from '../support/store-at.js';
import '../support/shipped-limits.js';

const [, , place = '', file = ''] = process.argv;
/** How long a shared store takes a gateway that says nothing for alive. */
const LEASE_MS = 500;

const note = (...words: unknown[]): void => appendFileSync(file, `${JSON.stringify(words)}\n`);

/** Does a step, and writes down what it came to, as far as this process gets. */
async function charge(turn: Turn, ms: number): Promise<string> {
  const came = await turn.step('charge', async ({ key, interrupted }) => {
    note('effect', turn.runId, interrupted);
    await delay(ms);
    return `${key} by ${process.pid}`;
  });
  note('finished', turn.runId, came);
  return came;
}

const answerOf = async ({ result }: Child): Promise<unknown> => JSON.parse((await result).text);

/** The children of each level, by the app of their parent. */
const UNDER: Readonly<Record<string, readonly (readonly [app: string, id: string])[]>> = {
  root: [
    ['middle', 'a'],
    ['middle', 'b'],
  ],
  middle: [
    ['low', 'c'],
    ['low', 'd'],
  ],
  low: [['leaf', 'e']],
  leaf: [],
};

const level = (name: string, ms: number) =>
  defineApp({
    resumable: true,
    async run(turn) {
      if (turn.resumed) note('resumed', turn.runId);
      const children = UNDER[name]!.map(([app, id]) => turn.spawn(app, { message: id, id }));
      if (name === 'root') turn.spawn('leaf', { message: 'beside', id: 'beside', detached: true });
      const own = await charge(turn as Turn, ms);
      const below = await Promise.all(children.map(answerOf));
      // A former process may have said it and been killed before its end.
      return turn.resumed?.content.length ? '' : JSON.stringify([own, ...below]);
    },
  });

const gateway = createGateway({
  apps: { root: level('root', 1), middle: level('middle', 8), low: level('low', 3), leaf: level('leaf', 12) },
  defaultApp: 'root',
  port: 0,
  auth: { type: 'token', token: TOKEN },
  store: storeAt(place, LEASE_MS),
  logger: { warn() {}, error() {} },
  limits: {
    ...{ sendsPerSecond: Number.POSITIVE_INFINITY, queueLength: 1000, childRuns: 64 },
    // The test wants to see all of it.
    retention: { events: 1e9, bytes: 1e12, ageMs: 1e12 },
  },
});
console.log('listening', (await gateway.start()).url);
