// Three times what one gateway can do, in open loop, by two tenants at 15 to 1, with 300 streams and new connections all the while:
// what the monitoring port answers, what each tenant gets, and how soon it is over. npx tsx bench/overload.ts [seconds] [runsAtOnce]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { channels } from '../server/diagnostics/index.js';
import { createGateway, defineApp } from '../server/index.js';

const STREAMS = 300;
const TIMES = 3;
/** Sends of the large tenant for one of the small. */
const LARGE = 15;
/** Computing of one run, in milliseconds, and its pieces of text. */
const WORK_MS = 3;
const PIECES = 20;
const NEW_CONNECTIONS_MS = 50;
/** Connections of the large tenant. */
const SOCKETS = 800;
const PROBE_MS = 50;

const [role = 'main', ...args] = process.argv.slice(2).filter((each) => !/^\d+$/.test(each));
const [seconds = 20, runsAtOnce = 16] = process.argv
  .slice(2)
  .filter((each) => /^\d+$/.test(each))
  .map(Number);

interface Told {
  readonly url: string;
  readonly monitor: string;
}

/** One answer, or `null` where none came in time. */
function ask(url: string, options: object = {}, body = ''): Promise<{ status: number; text: string } | null> {
  return new Promise((resolve) => {
    const asked = request(url, { timeout: 10_000, ...options }, (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text }));
      response.on('error', () => resolve(null));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(null)).end(body);
  });
}

const at = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);

function summary(times: number[]): object {
  times.sort((a, b) => a - b);
  return { count: times.length, p50: at(times, 0.5), p99: at(times, 0.99), most: at(times, 1) };
}

async function serve(): Promise<void> {
  const app = defineApp({
    async *run() {
      for (let piece = 0; piece < PIECES; piece += 1) {
        for (const end = performance.now() + WORK_MS / PIECES; performance.now() < end; );
        await sleep(5);
        yield `piece ${piece} `;
      }
    },
  });
  const gateway = createGateway({
    ...{ app, port: 0, monitor: { port: 0 }, logger: { warn() {}, error() {} } },
    auth: {
      ...{ type: 'custom', cookies: false },
      validate: (token) => {
        const [tenantId, id = ''] = (token ?? '').split('-');
        return { valid: true, user: { id, ...(tenantId && { tenantId }) } };
      },
    },
    limits: { runsAtOnce, sendsPerSecond: 1e6, readsPerSecond: 1e6, connectionsPerUser: 1000 },
  });
  const waited: Record<string, number[]> = { a: [], b: [] };
  const over = ({ user, queuedMs }: { user?: { tenantId?: string } | null; queuedMs?: number }): void => {
    if (queuedMs !== undefined) waited[user?.tenantId ?? '']?.push(queuedMs);
  };
  channels.run.subscribe({ asyncEnd: over } as never);
  const { url, monitor } = await gateway.start();
  process.send!({ url, monitor });
  process.on('message', (told) => {
    if (told === 'begins') for (const times of Object.values(waited)) times.length = 0;
    else process.send!({ large: summary(waited.a!), small: summary(waited.b!) });
  });
}

/** Asks the monitoring port all the while, from a process of its own. */
async function probe(): Promise<void> {
  const [monitor = ''] = args;
  const times: number[] = [];
  const wrong: Record<string, number> = {};
  let isOver = false;
  process.on('message', () => {
    isOver = true;
  });
  const agent = new Agent({ keepAlive: false });
  for (let path = '/healthz'; !isOver; path = path === '/healthz' ? '/readyz' : '/healthz') {
    const began = performance.now();
    const answer = await ask(monitor + path, { agent });
    times.push(performance.now() - began);
    if (path === '/healthz' && answer?.status !== 200)
      wrong[String(answer?.status)] = 1 + (wrong[String(answer?.status)] ?? 0);
    await sleep(PROBE_MS);
  }
  process.send!({ ...summary(times), livenessFailed: wrong }, () => process.exit());
}

/** What one tenant got. */
class Got {
  sent = 0;
  done = 0;
  refused = 0;
  failed = 0;
  readonly times: number[] = [];
}

async function load(): Promise<void> {
  const [url = ''] = args;
  // Opened before: Node takes one new connection in a turn of the loop, and sends would wait for that.
  const agents: Readonly<Record<string, Agent>> = {
    a: new Agent({ keepAlive: true, maxSockets: SOCKETS, maxFreeSockets: SOCKETS }),
    b: new Agent({ keepAlive: true, maxSockets: SOCKETS / 4, maxFreeSockets: SOCKETS }),
  };
  const headers = (who: string) => ({ authorization: `Bearer ${who}`, 'content-type': 'application/json' });
  const json = { accept: 'application/json' };
  let count = 0;
  const send = async (tenant: string, got: Got): Promise<void> => {
    count += 1;
    got.sent += 1;
    const began = performance.now();
    const body = JSON.stringify({ sessionId: `s${count}`, message: 'hi' });
    const who = { ...headers(`${tenant}-user${count % 40}`), ...json };
    const answer = await ask(
      `${url}/send`,
      { agent: agents[tenant], method: 'POST', headers: who, timeout: 60_000 },
      body,
    );
    if (answer?.status === 200) {
      got.done += 1;
      got.times.push(performance.now() - began);
    } else if (answer?.status === 503) got.refused += 1;
    else got.failed += 1;
  };
  for (let each = 0; each < STREAMS; each += 1)
    get(`${url}/events?sessionId=s${each}`, { headers: headers(`a-user${each % 40}`) }, (response) =>
      response.resume(),
    ).on('error', () => {});
  for (const agent of Object.values(agents))
    await Promise.all(Array.from({ length: agent.maxSockets }, () => ask(`${url}/healthz`, { agent })));
  // What it can do: as many at once as work at once.
  const closed = async (forSeconds: number): Promise<number> => {
    const got = new Got();
    const until = performance.now() + forSeconds * 1000;
    await Promise.all(
      Array.from({ length: runsAtOnce }, async () => {
        while (performance.now() < until) await send('a', got);
      }),
    );
    return got.done / forSeconds;
  };
  await closed(3);
  const capacity = await closed(5);
  const [large, small] = [new Got(), new Got()];
  const perSecond = TIMES * capacity;
  process.send!('begins');
  const fresh = setInterval(() => void ask(`${url}/healthz`, { agent: false }), NEW_CONNECTIONS_MS);
  const began = performance.now();
  const sends: Promise<void>[] = [];
  for (let each = 0; each < perSecond * seconds; each += 1) {
    const dueAt = began + (each * 1000) / perSecond;
    if (dueAt > performance.now()) await sleep(dueAt - performance.now());
    sends.push(each % (LARGE + 1) === 0 ? send('b', small) : send('a', large));
  }
  clearInterval(fresh);
  const endedAt = performance.now();
  while ((await ask(`${url}/readyz`))?.status !== 200) await sleep(20);
  const readyMs = Math.round(performance.now() - endedAt);
  await Promise.all(sends);
  const doneMs = Math.round(performance.now() - endedAt);
  const of = ({ sent, done, refused, failed, times }: Got) => ({
    ...{ sent, done, refused, failed, share: Number((done / sent).toFixed(2)) },
    ms: summary(times),
  });
  process.send!(
    {
      capacity: Math.round(capacity),
      offered: Math.round(perSecond),
      large: of(large),
      small: of(small),
      readyMs,
      doneMs,
    },
    () => process.exit(),
  );
}

async function main(): Promise<void> {
  const child = (name: string, ...given: string[]): ChildProcess =>
    fork(fileURLToPath(import.meta.url), [name, ...given, String(seconds), String(runsAtOnce)], {
      execArgv: process.execArgv,
    });
  const told = async (of: ChildProcess): Promise<unknown> => (await once(of, 'message'))[0];
  const gateway = child('serve');
  const { url, monitor } = (await told(gateway)) as Told;
  const prober = child('probe', monitor);
  const loader = child('load', url);
  gateway.send((await told(loader)) as string);
  const outcome = await told(loader);
  prober.send('over');
  gateway.send('over');
  const [waitedMs, monitored] = await Promise.all([told(gateway), told(prober)]);
  console.log(JSON.stringify({ seconds, runsAtOnce, outcome, waitedMs, monitor: monitored }, null, 2));
  gateway.kill('SIGKILL');
}

await { main, serve, probe, load }[role as 'main']();
