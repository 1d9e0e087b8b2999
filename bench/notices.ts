import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createGateway, defineApp } from '../server/index.js';
import { memoryStore } from '../server/stores/memory.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import { newDatabase } from '../test/support/durable.js';

/**
 * Notices, so many a second, to a receiver that takes its time, while answers stream:
 * `npx tsx bench/notices.ts [per second] [seconds] [memory]`. Each figure is measured without them, with as many changes of titles in
 * their place: what is stored as durably. What is owed waits in the store.
 */
const [RATE, SECONDS] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 15)];
const SLOW_MS = 500;
const STREAMS = 20;
const PIECES_MS = 20;

const secrets = Buffer.alloc(32, 1).toString('base64');
const user = { id: 'bench' };

async function measure(isTold: boolean): Promise<{ readonly p50: number; readonly p99: number }> {
  let taken = 0;
  let open = 0;
  let most = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    most = Math.max(most, ++open);
    setTimeout(() => {
      open -= 1;
      taken += 1;
      response.writeHead(204).end();
    }, SLOW_MS);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const app = defineApp({
    async *run(turn) {
      const ends = performance.now() + SECONDS * 1000;
      while (turn.text === 'stream' && performance.now() < ends) {
        yield `${performance.now()} `;
        await new Promise((resolve) => setTimeout(resolve, PIECES_MS));
      }
    },
  });
  const gateway = createGateway({
    ...{
      app,
      port: 0,
      store: process.argv[4] ? memoryStore() : sqliteStore({ path: newDatabase() }),
      logger: { warn() {}, error() {} },
    },
    sessionScope: () => 'bench',
    limits: {
      sessionsPerUser: Number.POSITIVE_INFINITY,
      sendsPerSecond: 1e6,
      loopDelayMs: Number.POSITIVE_INFINITY,
    },
    notify: { webhooks: { url, secrets, name: 'slow' }, unseenMs: 0, allowPrivate: true },
  });
  await gateway.start();
  for (let i = 0; i < 200; i++) await gateway.session(`told-${i}`, { user }).send('hi').result;
  const lags: number[] = [];
  const streams = Array.from({ length: STREAMS }, async (_, i) => {
    for await (const event of gateway.session(`stream-${i}`, { user }).send('stream'))
      if (event.type === 'content_delta') lags.push(performance.now() - Number(event.delta.trim()));
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [heap, cpu] = [process.memoryUsage().rss, process.cpuUsage()];
  let added = 0;
  const began = performance.now();
  const adding = setInterval(() => {
    const due = Math.min(RATE * SECONDS, ((performance.now() - began) / 1000) * RATE);
    while (added < due) {
      added += 1;
      const session = gateway.session(`told-${added % 200}`, { user });
      void (isTold ? session.notify({ title: 'x' }) : session.update({ title: `x${added}` }));
    }
  }, 10);
  await Promise.all(streams);
  clearInterval(adding);
  const { user: own, system } = process.cpuUsage(cpu);
  const grown = (process.memoryUsage().rss - heap) / 1024 / 1024;
  lags.sort((a, b) => a - b);
  const at = (part: number): number => lags[Math.floor(lags.length * part)] ?? 0;
  const told = gateway.stats().notices.outcomes.map(({ outcome, count }) => `${outcome} ${count}`);
  console.log(
    `${isTold ? `${added} notices` : `${added} changes`}: pieces ${lags.length}, p50 ${at(0.5).toFixed(2)} ms, p99 ${at(0.99).toFixed(1)} ms; ` +
      `loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms; CPU ${((own + system) / 1e4 / SECONDS).toFixed(0)} %; ` +
      `RSS +${grown.toFixed(0)} MiB; receiver: ${taken} taken, at most ${most} at a time; ${told.join(', ')}`,
  );
  receiver.closeAllConnections();
  receiver.close();
  await gateway.close();
  return { p50: at(0.5), p99: at(0.99) };
}

const without = await measure(false);
const told = await measure(true);
console.log(
  `p50 ${(told.p50 / without.p50).toFixed(2)} times, p99 ${(told.p99 / without.p99).toFixed(2)} times`,
);
process.exit(0);
