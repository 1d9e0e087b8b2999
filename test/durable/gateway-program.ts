import { setTimeout as delay } from 'node:timers/promises';
import { createGateway, defineApp } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { TOKEN } from '../support/gateway.js';
import { mutants } from './mutants.js';
import '../support/shipped-limits.js';

// gateway-program <database> [port] [mutant]: a gateway whose app streams as many deltas as its message says, and pauses for so many
// milliseconds behind each where it says that too.
const [, , path, port = '0', mutant = 'none'] = process.argv;

// Long enough that a round fills the store's journal.
const PADDING = 'äx'.repeat(10_000);

const app = defineApp({
  async *run(turn) {
    const [count, pauseMs] = turn.text.split(' ');
    for (let i = 0; i < Number(count); i++) {
      yield `${i} of ${turn.runId}${i % 8 === 7 ? PADDING : ''}; `;
      if (pauseMs !== undefined) await delay(Number(pauseMs));
      else if (i % 3 === 0) await new Promise(setImmediate);
    }
  },
});

const gateway = createGateway({
  app,
  port: Number(port),
  auth: { type: 'token', token: TOKEN },
  store: mutants[mutant as keyof typeof mutants](sqliteStore({ path: path! })),
  limits: {
    sendsPerSecond: Number.POSITIVE_INFINITY,
    queueLength: 1000,
    connectionsPerUser: 1000,
    // The checker wants to see all of it.
    retention: { events: 1e9, bytes: 1e12, ageMs: 1e12 },
  },
});
console.log('listening', (await gateway.start()).url);
