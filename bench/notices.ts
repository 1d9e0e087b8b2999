import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createGateway, defineApp } from '../server/index.js';
import { memoryStore } from '../server/stores/memory.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import { newDatabase } from '../test/support/durable.js';

/**
 * Notices, so many a second, to a receiver that takes its time, while answers stream:
 * `npx tsx bench/notices.ts [per second] [seconds] [sqlite | memory] [rounds]`. Each round is measured without them as well, with as many
 * changes of titles in their place: what is stored as durably. What is owed waits in the store.
 */
const [RATE, SECONDS] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 15)];
const IN_MEMORY = process.argv[4] === 'memory';
const ROUNDS = Number(process.argv[5] ?? 1);
const SLOW_MS = 500;
const STREAMS = 20;
const PIECES_MS = 20;

const secrets = Buffer.alloc(32, 1).toString('base64');
const user = { id: 'bench' };

/** How long this process was at work, in milliseconds. */
function atWork(): number {
  const { user: own, system } = process.cpuUsage();
  return (own + system) / 1000;
}

const at = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

interface Measured {
  /** How late pieces of answers came, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** The same in time that this process was at work: what other processes of a busy machine take is not in it, nor the disk. */
  readonly own50: number;
  readonly own99: number;
  /** Of one core. */
  readonly cpu: number;
}

async function measure(isTold: boolean): Promise<Measured> {
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
        yield `${performance.now()} ${atWork()}`;
        await new Promise((resolve) => setTimeout(resolve, PIECES_MS));
      }
    },
  });
  const gateway = createGateway({
    ...{
      app,
      port: 0,
      store: IN_MEMORY ? memoryStore() : sqliteStore({ path: newDatabase() }),
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
  const [lags, owns]: [number[], number[]] = [[], []];
  const streams = Array.from({ length: STREAMS }, async (_, i) => {
    for await (const event of gateway.session(`stream-${i}`, { user }).send('stream'))
      if (event.type === 'content_delta') {
        const [at, work] = event.delta.split(' ').map(Number) as [number, number];
        lags.push(performance.now() - at);
        owns.push(atWork() - work);
      }
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
  const percent = (own + system) / 1e4 / SECONDS;
  const grown = (process.memoryUsage().rss - heap) / 1024 / 1024;
  const [p50, p99] = [at(lags, 0.5), at(lags, 0.99)];
  const [own50, own99] = [at(owns, 0.5), at(owns, 0.99)];
  const told = gateway.stats().notices.outcomes.map(({ outcome, count }) => `${outcome} ${count}`);
  console.log(
    `${isTold ? `${added} notices` : `${added} changes`}: pieces ${lags.length}, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, of its own ${own50.toFixed(2)} and ${own99.toFixed(1)}; ` +
      `loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms; CPU ${percent.toFixed(0)} %; ` +
      `RSS +${grown.toFixed(0)} MiB; receiver: ${taken} taken, at most ${most} at a time; ${told.join(', ')}`,
  );
  receiver.closeAllConnections();
  receiver.close();
  await gateway.close();
  return { p50, p99, own50, own99, cpu: percent };
}

const ratios: Measured[] = [];
for (let round = 0; round < ROUNDS; round++) {
  // By turns: what gets slower with time is neither's.
  const first = await measure(round % 2 === 0);
  const second = await measure(round % 2 !== 0);
  const [told, without] = round % 2 === 0 ? [first, second] : [second, first];
  const of = (key: keyof Measured): number => told[key] / without[key];
  ratios.push({ p50: of('p50'), p99: of('p99'), own50: of('own50'), own99: of('own99'), cpu: of('cpu') });
}
const median = (key: keyof Measured): string =>
  at(
    ratios.map((ratio) => ratio[key]),
    0.5,
  ).toFixed(2);
console.log(
  `With notices: p50 ${median('p50')} times, p99 ${median('p99')} times; of its own ${median('own50')} and ${median('own99')}; CPU ${median('cpu')} times`,
);
process.exit(0);
