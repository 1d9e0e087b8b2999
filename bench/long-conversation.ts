import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createGateway, defineApp, memoryStore } from '../server/index.js';
import { redisStore } from '../server/stores/redis/index.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import type { Store } from '../server/stores/store.js';
import { newDatabase } from '../test/support/durable.js';
import { RedisServer } from '../test/support/redis-server.js';

/** What an edit, a new answer, a move and a fork of conversations of these lengths take: `npx tsx bench/long-conversation.ts [length ...]`. */
const LENGTHS = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 10_000, 100_000];
/** Times that each is done; the slowest is said. */
const TIMES = 3;

async function measure(name: string, store: Store): Promise<void> {
  const gateway = createGateway({
    app: defineApp({ run: ({ text }) => `answer to ${text}` }),
    store,
    auth: { type: 'none' },
    limits: { importedMessages: Number.MAX_SAFE_INTEGER },
  });
  await gateway.start();
  for (const length of LENGTHS) {
    const session = gateway.session(`s${length}`);
    const messages = Array.from({ length }, (_, i) => ({
      ...{ id: `m${i}`, role: i % 2 ? ('assistant' as const) : ('user' as const) },
      content: `message ${i} with some words, as people write them`,
    }));
    const works: Record<string, (time: number) => PromiseLike<unknown>> = {
      import: () => session.import(messages),
      'edit at the end': () => session.send('edited', { replaces: `m${length - 2}` }).result,
      'back to the end': () => session.move(`m${length - 1}`),
      'edit in the middle': (time) => session.send('far', { replaces: `m${length / 2 - 2 * time}` }).result,
      'back to the end again': () => session.move(`m${length - 1}`),
      'answer again': () => session.regenerate().result,
      'to the beginning': () => session.move('m9'),
      'to the end': () => session.move(`m${length - 1}`),
      fork: (time) => session.fork(`f${length}-${time}`),
    };
    for (let time = 0; time < TIMES; time++) {
      for (const [what, work] of Object.entries(works)) {
        if (what === 'import' && time > 0) continue;
        const delay = monitorEventLoopDelay({ resolution: 1 });
        await new Promise((resolve) => setTimeout(resolve, 20));
        delay.enable();
        const began = performance.now();
        await work(time);
        const ms = performance.now() - began;
        await new Promise((resolve) => setTimeout(resolve, 5));
        delay.disable();
        const said = [name, length, what, `${ms.toFixed(1)} ms`, `held ${(delay.max / 1e6).toFixed(1)} ms`];
        console.log(said.join('\t'));
      }
    }
  }
  await gateway.close();
}

await measure('memory', memoryStore());
await measure('SQLite', sqliteStore({ path: newDatabase() }));
const server = await RedisServer.start();
await measure('Redis', redisStore({ url: server.url }));
await server.stop();
process.exit(0);
