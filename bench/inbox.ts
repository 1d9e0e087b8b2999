import { type ClientInbox, clientInbox } from '../client/inbox/index.js';
import { createClient } from '../client/index.js';
import { createGateway, defineApp } from '../server/index.js';
import { redisStore } from '../server/stores/redis/index.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import type { Store } from '../server/stores/store.js';
import { newDatabase } from '../test/support/durable.js';
import { RedisServer } from '../test/support/redis-server.js';

/** Changes of an inbox of many sessions that one stream follows: `npx tsx bench/inbox.ts [sessions] [changes]`. */
const SESSIONS = Number(process.argv[2] ?? 1000);
const CHANGES = Number(process.argv[3] ?? 2000);
const AT_ONCE = 20;

const limits = { sendsPerSecond: 1e6, readsPerSecond: 1e6, sessionsPerUser: 1e6, loopDelayMs: 1e9 };
const app = defineApp({
  async *run() {
    yield 'heard';
  },
});

/** CPU of the process, in microseconds. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function measure(name: string, store: Store): Promise<void> {
  const gateway = createGateway({ app, store, limits, auth: { type: 'none' }, port: 0 });
  const { url } = await gateway.start();
  let bytes = 0;
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes('~inbox') || !response.body) return response;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, out) {
          bytes += chunk.byteLength;
          out.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, response);
  };
  const client = createClient({ baseUrl: url!, fetch: counting });
  const inbox = clientInbox(client);
  const send = async (from: number, count: number): Promise<void> => {
    for (let i = from; i < from + count; i += AT_ONCE) {
      const ids = Array.from(
        { length: Math.min(AT_ONCE, from + count - i) },
        (_, j) => `s${(i + j) % SESSIONS}`,
      );
      await Promise.all(ids.map((id) => client.send(id, 'hi').result));
    }
  };
  await send(0, SESSIONS);
  const alone = await timed(() => send(0, CHANGES));
  const listed = await timed(async () => void (await inbox.list()));
  const followed = await follow(inbox, () => timed(() => send(0, CHANGES)));
  const perChange = (cpu: number): string => (cpu / CHANGES).toFixed(0);
  console.log(
    `${name}: ${SESSIONS} sessions, ${CHANGES} sends: CPU ${perChange(alone.cpu)} us a send without a stream, ` +
      `${perChange(followed.result.cpu)} us with one (gateway and client), ${followed.rows} rows in ${followed.events} events, ` +
      `${(bytes / followed.rows).toFixed(0)} bytes a row; a list of all takes ${(listed.cpu / 1000).toFixed(0)} ms of CPU`,
  );
  client.disconnect();
  await gateway.close();
}

async function timed(work: () => Promise<void>): Promise<{ readonly cpu: number; readonly ms: number }> {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await work();
  return { cpu: cpuSince(cpu), ms: performance.now() - began };
}

async function follow<T>(inbox: ClientInbox, work: () => Promise<T>) {
  const { place } = await inbox.list();
  const controller = new AbortController();
  let [rows, events] = [0, 0];
  const done = (async () => {
    for await (const { sessions } of inbox.events({ from: place, signal: controller.signal })) {
      rows += sessions.length;
      events += 1;
    }
  })();
  const result = await work();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  controller.abort();
  await done;
  return { result, rows, events };
}

await measure('SQLite', sqliteStore({ path: newDatabase() }));
const server = await RedisServer.start();
await measure('Redis', redisStore({ url: server.url }));
await server.stop();
process.exit(0);
