import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createGateway, defineApp, type Turn } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { TOKEN } from '../support/gateway.js';
import { mutants } from './mutants.js';
import '../support/shipped-limits.js';

// steps-program <database> <file> [mutant]: a gateway whose app writes what its steps do, and what they come to, into the file.
const [, , path, file, mutant = 'none'] = process.argv;

const note = (...words: unknown[]): void => appendFileSync(file!, `${JSON.stringify(words)}\n`);

/** Calls a step and writes down what it came to, as far as this process gets. */
async function charge(turn: Turn, name: string, ms: number, fails = false): Promise<string> {
  const told = new Set(turn.resumed?.inFlight.map(({ key }) => key));
  let known = '';
  const came = await turn
    .step(name, async ({ key, interrupted }) => {
      known = key;
      note('effect', key, interrupted, told.has(key));
      await delay(ms);
      if (fails) throw new Error(`failed in ${process.pid}`);
      return `${key} by ${process.pid}`;
    })
    .catch((error: Error) => error.message);
  note('finished', turn.runId, name, came, known);
  return came;
}

const app = defineApp({
  resumable: true,
  async run(turn) {
    const all = [await charge(turn, 'first', 3)];
    all.push(
      ...(await Promise.all([
        charge(turn, 'left', 5),
        charge(turn, 'right', 1),
        charge(turn, 'odd', 2, true),
      ])),
    );
    all.push(await charge(turn, 'retried', 1, true));
    all.push(await charge(turn, 'last', 4));
    // A former process may have said it and been killed before its end.
    return turn.resumed?.content.length ? '' : JSON.stringify(all);
  },
});

const gateway = createGateway({
  app,
  port: 0,
  auth: { type: 'token', token: TOKEN },
  store: mutants[mutant as keyof typeof mutants](sqliteStore({ path: path! })),
  limits: { sendsPerSecond: Number.POSITIVE_INFINITY, queueLength: 1000 },
});
console.log('listening', (await gateway.start()).url);
