/**
 * Counts the files of `server` and `shared` that one warm request enters, and their named functions.
 * Usage: `npx tsx bench/walks.ts [walk]`. The name of a walk lists its files and functions.
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { createGateway, defineApp, method, type Store } from '../server/index.js';
import { responsesPlugin } from '../server/plugins/responses/index.js';
import { MemoryHub } from '../test/support/memory-hub.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TOKEN = 'a-token-of-the-walks-of-more-than-32-bytes';
/** Long enough for all that a request leaves to do, and short beside timers that have nothing to do with it. */
const SETTLED_MS = 50;

const app = defineApp({
  async *run() {
    yield 'One, ';
    yield 'two.';
  },
});

async function startGateway(store?: Store): Promise<{ readonly url: string; close(): Promise<void> }> {
  const gateway = createGateway({
    ...(store && { store }),
    port: 0,
    auth: { type: 'token', token: TOKEN },
    apps: { assistant: app },
    defaultApp: 'assistant',
    methods: { add: method({ handler: ({ a, b }: { a: number; b: number }) => a + b }) },
  });
  gateway.use(responsesPlugin());
  const { url } = await gateway.start();
  return { url: url ?? '', close: () => gateway.close() };
}

async function post(url: string, body: object, accept = 'application/json'): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', accept };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}: ${text}`);
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
}

const hub = new MemoryHub({ leaseMs: 60_000 });
const alone = await startGateway();
const holder = await startGateway(hub.node().store);
const other = await startGateway(hub.node().store);

const message = (sessionId: string) => ({ sessionId, message: 'Count.' });
await post(`${holder.url}/send`, message('main'));

const WALKS: Readonly<Record<string, () => Promise<void>>> = {
  'send, JSON': () => post(`${alone.url}/send`, message('main')),
  'send, SSE': () => post(`${alone.url}/send`, message('main'), 'text/event-stream'),
  'send, forwarded': () => post(`${other.url}/send`, message('main'), 'text/event-stream'),
  responses: () => post(`${alone.url}/v1/responses`, { model: 'assistant', input: 'Count.' }),
  invoke: () => post(`${alone.url}/invoke`, { method: 'add', params: { a: 1, b: 2 } }),
};

const session = new Session();
session.connect();
await session.post('Profiler.enable');

type Entered = ReadonlyMap<string, readonly string[]>;

/** The shortest of some walks, because timers and cuts join others. */
async function shortest(walk: () => Promise<void>): Promise<Entered> {
  for (let warm = 0; warm < 3; warm++) await walk();
  let found = await entered(walk);
  for (let again = 1; again < 7; again++) {
    const other = await entered(walk);
    if (functionsOf(other) < functionsOf(found)) found = other;
  }
  return found;
}

const functionsOf = (files: Entered): number => [...files.values()].flat().length;

/** Files that a walk enters, with the names of the functions that it enters there. */
async function entered(walk: () => Promise<void>): Promise<Entered> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await walk();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const files = new Map<string, readonly string[]>();
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') ? fileURLToPath(url.split('?')[0]!).slice(ROOT.length) : '';
    if (!/^(server|shared)\//.test(file)) continue;
    const names = functions
      // The loader gives each function its name by one of this name.
      .filter(({ functionName, ranges }) => ranges[0]!.count > 0 && !/^(__name)?$/.test(functionName))
      .map(({ functionName }) => functionName);
    if (names.length > 0) files.set(file, names);
  }
  return files;
}

const [chosen] = process.argv.slice(2);
for (const [name, walk] of Object.entries(WALKS)) {
  if (chosen && chosen !== name) continue;
  const files = await shortest(walk);
  console.log(`${name}: ${files.size} files, ${functionsOf(files)} functions`);
  if (chosen) for (const [file, names] of [...files].sort()) console.log(`  ${file}: ${names.join(', ')}`);
}
session.disconnect();
await Promise.all([alone, holder, other].map((gateway) => gateway.close()));
