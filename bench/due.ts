import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DONE } from '../server/due/due-kind.js';
import { DueWorker } from '../server/due/due-worker.js';
import { redisStore } from '../server/stores/redis/index.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import type { Store } from '../server/stores/store.js';
import { newDatabase } from '../test/support/durable.js';
import { RedisServer } from '../test/support/redis-server.js';

/** Records that are due at the same moment, on a store each: `npx tsx bench/due.ts [records]`. */
const COUNT = Number(process.argv[2] ?? 100_000);
/** Records of one home. */
const EACH = 100;

async function measure(name: string, store: Store): Promise<void> {
  await store.open();
  const dueAt = Date.now() - 1000;
  for (let home = 0; home < COUNT / EACH; home++) {
    const changes = Array.from({ length: EACH }, (_, i) => ({
      kind: 'bench',
      id: `r${i}`,
      dueAt,
      value: '{}',
    }));
    await store.changeRecords({ scope: 'bench', app: 'default', name: `s${home}` }, changes);
  }
  const worker = new DueWorker({
    store,
    report: (error) => console.error(error),
    format: ({ name }) => name,
  });
  let left = COUNT;
  const done = new Promise<void>((resolve) => {
    worker.on('bench', {
      async do({ home, kind, id, token }) {
        if (!(await store.changeRecords(home, [{ kind, id, token }]))) throw new Error('another one had it');
        left -= 1;
        if (left === 0) resolve();
        return DONE;
      },
    });
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  worker.start();
  await done;
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1000;
  await worker.stop(1000);
  await store.close();
  console.log(
    `${name}: ${COUNT} records in ${seconds.toFixed(1)} s, longest stall ${(delay.max / 1e6).toFixed(0)} ms, ` +
      `p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, CPU ${((user + system) / COUNT).toFixed(0)} us a record`,
  );
}

// Nothing of a worker keeps a process alive.
setInterval(() => {}, 1000);
await measure('SQLite', sqliteStore({ path: newDatabase() }));
const server = await RedisServer.start();
await measure('Redis', redisStore({ url: server.url }));
await server.stop();
process.exit(0);
