import { createGateway, defineApp } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { mutants } from '../durable/mutants.js';
import { TOKEN } from '../support/gateway.js';
import '../support/shipped-limits.js';

// history-program <database> <mutant>: a gateway whose app answers at once, or stands still where its message says so.
const [, , path, mutant] = process.argv;

const gateway = createGateway({
  port: 0,
  auth: { type: 'token', token: TOKEN },
  clientMessages: { import: true },
  store: mutants[mutant as keyof typeof mutants](sqliteStore({ path: path! })),
  // The test wants to see all of it.
  limits: { sendsPerSecond: Number.POSITIVE_INFINITY, retention: { events: 1e9, bytes: 1e12, ageMs: 1e12 } },
  app: defineApp({
    async *run(turn) {
      yield `${turn.history.length} before. `;
      if (turn.text === 'stand') await new Promise(() => {});
      yield 'That is all.';
    },
  }),
});
gateway.start().then(({ url }) => console.log(`listening ${url}\n`));
