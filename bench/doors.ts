import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createGateway, defineApp } from '../server/index.js';
import { agUiPlugin } from '../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../server/plugins/chat-completions/index.js';
import { responsesPlugin } from '../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../server/plugins/ui-message-stream/index.js';

// npx tsx bench/doors.ts [rounds] [deltas] [concurrency]: what a delta of an answer costs by each door, in bytes of the response's body and
// in the gateway's CPU, against the plain stream of `POST /send`. One process serves all; doors are measured in turns, each answer in a
// session of its own, each delta in an event-loop turn of its own. Ratios are medians over the rounds.

interface Door {
  readonly name: string;
  readonly path: string;
  body(text: string): unknown;
}

/** A door is a line here, and a plugin in `serve`. The first is what the others are compared with. */
const DOORS: readonly Door[] = [
  { name: '/send', path: '/send', body: (message) => ({ sessionId: randomUUID(), message }) },
  {
    name: 'chat completions',
    path: '/v1/chat/completions',
    body: (content) => ({ model: 'app', stream: true, messages: [{ role: 'user', content }] }),
  },
  {
    name: 'Responses',
    path: '/v1/responses',
    body: (input) => ({ model: 'app', stream: true, input }),
  },
  {
    name: 'AG-UI',
    path: '/ag-ui/agent/app',
    body: (content) => ({
      threadId: randomUUID(),
      runId: randomUUID(),
      messages: [{ id: randomUUID(), role: 'user', content }],
      state: {},
      tools: [],
      context: [],
      forwardedProps: {},
    }),
  },
  {
    name: 'UI message stream',
    path: '/api/chat',
    body: (text) => ({
      id: randomUUID(),
      messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }],
    }),
  },
];

const TOKEN = 'a-benchmark-token-of-more-than-32-bytes';
/** What an app says in one piece, about as long as a model's token. */
const DELTA = 'word ';

const [role = '7', ...args] = process.argv.slice(2);
if (role === 'serve') await serve();
else await compare(Number(role), Number(args[0] ?? 500), Number(args[1] ?? 16));

interface Sample {
  readonly bytes: number;
  readonly cpuMicros: number;
}

async function compare(rounds: number, deltas: number, concurrency: number): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx'] });
  const { port } = await answerOf<{ port: number }>(child);
  const samples = new Map<Door, Sample[]>(DOORS.map((door) => [door, []]));
  const measured = (door: Door) => measure(child, { port, door, deltas, concurrency });
  // Until everything is compiled.
  for (let round = 0; round < 3; round++) for (const door of DOORS) await measured(door);
  for (let round = 0; round < rounds; round++)
    for (const door of round % 2 ? [...DOORS].reverse() : DOORS)
      samples.get(door)!.push(await measured(door));
  child.kill();
  console.log(`${rounds} rounds of ${concurrency} answers of ${deltas} deltas, Node ${process.version}`);
  const plain = samples.get(DOORS[0]!)!;
  for (const [{ name }, own] of samples) {
    const told = (field: keyof Sample, digits: number) =>
      `${median(own.map((it) => it[field])).toFixed(digits)} (${median(own.map((it, at) => it[field] / plain[at]![field])).toFixed(2)})`;
    console.log(`${name.padEnd(18)} ${told('bytes', 0)} bytes/delta, ${told('cpuMicros', 1)} us CPU/delta`);
  }
}

async function measure(
  child: ChildProcess,
  {
    port,
    door,
    deltas,
    concurrency,
  }: {
    readonly port: number;
    readonly door: Door;
    readonly deltas: number;
    readonly concurrency: number;
  },
): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const all = (count: number) =>
    Promise.all(
      Array.from({ length: concurrency }, () =>
        post(port, { agent, door, text: String(count), deltas: count }),
      ),
    );
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const cpu = async () => {
    child.send('cpu');
    return (await answerOf<{ cpu: number }>(child)).cpu;
  };
  // What an answer costs besides its deltas is measured by one of a single delta, and left out.
  const before = await cpu();
  const short = sum(await all(1));
  const between = await cpu();
  const long = sum(await all(deltas));
  const after = await cpu();
  agent.destroy();
  const count = concurrency * (deltas - 1);
  return { bytes: (long - short) / count, cpuMicros: (after - between - (between - before)) / count };
}

/** Sends a message and reads the answer to its end; resolves with the bytes of that. */
function post(
  port: number,
  {
    agent,
    door,
    text,
    deltas,
  }: { readonly agent: Agent; readonly door: Door; readonly text: string; readonly deltas: number },
): Promise<number> {
  const body = JSON.stringify(door.body(text));
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    request({ host: '127.0.0.1', port, path: door.path, method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const said = Buffer.concat(chunks);
        // A refusal would be quick.
        if (said.toString().split(DELTA).length - 1 < deltas) reject(new Error(`${door.name}: ${said}`));
        else resolve(said.length);
      });
    })
      .on('error', reject)
      .end(body);
  });
}

async function serve(): Promise<void> {
  const app = defineApp({
    async *run({ text }) {
      for (let left = Number(text); left > 0; left--) {
        yield DELTA;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
  const unlimited = Number.POSITIVE_INFINITY;
  const gateway = createGateway({
    apps: { app },
    defaultApp: 'app',
    port: 0,
    auth: { type: 'token', token: TOKEN },
    limits: { sendsPerSecond: unlimited, sessionsPerUser: unlimited, connectionsPerUser: unlimited },
  });
  gateway.use(chatCompletionsPlugin()).use(responsesPlugin());
  gateway.use(uiMessageStreamPlugin()).use(agUiPlugin());
  const { port } = await gateway.start();
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!({ cpu: user + system });
  });
  process.send!({ port });
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (it) => resolve(it as T)));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
