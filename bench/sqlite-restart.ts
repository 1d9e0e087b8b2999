import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { userScope } from '../server/auth/scope.js';
import { createGateway, defineApp, memoryStore, type Store } from '../server/index.js';
import type { EventRecord } from '../server/stores/append.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';

// npx tsx bench/sqlite-restart.ts [sessions] [events] [open runs]: how long a gateway takes to start on a database of so many
// sessions and events, as a crash left it, how long a page of a list takes then, and what memory it needs, against one that starts with nothing.

const [role = '10000', ...args] = process.argv.slice(2);
const app = defineApp({ run: (turn) => turn.text });

if (role === 'start') await start(args[0] === 'memory' ? memoryStore() : sqliteStore({ path: args[0]! }));
else if (role === 'fill')
  await fill(args[0]!, { sessions: Number(args[1]), events: Number(args[2]), open: Number(args[3]) });
else compare(Number(role), Number(args[0] ?? 1_000_000), Number(args[1] ?? 100));

function compare(sessions: number, events: number, open: number): void {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const path = join(dir, 'gateway.db');
  const run = (...argv: string[]): string => {
    const child = spawnSync(
      process.execPath,
      ['--expose-gc', '--import', 'tsx', fileURLToPath(import.meta.url), ...argv],
      { encoding: 'utf8' },
    );
    if (child.status !== 0 && child.signal !== 'SIGKILL') throw new Error(child.stderr);
    return child.stdout.trim();
  };
  console.log(`${sessions} sessions, ${events} events, ${open} runs left open`);
  console.log(run('fill', path, String(sessions), String(events), String(open)));
  console.log(`file ${mib(statSync(path).size)}, write-ahead log ${mib(statSync(`${path}-wal`).size)}`);
  console.log(`empty:      ${run('start', 'memory')}`);
  console.log(`crashed:    ${run('start', path)}`);
  console.log(`orderly:    ${run('start', path)}`);
  rmSync(dir, { recursive: true, force: true });
}

async function fill(
  path: string,
  { sessions, events, open }: { sessions: number; events: number; open: number },
): Promise<void> {
  const store = sqliteStore({ path });
  await store.open();
  const began = performance.now();
  const perSession = Math.round(events / sessions);
  for (let from = 0; from < sessions; from += 64) {
    await Promise.all(
      Array.from({ length: Math.min(64, sessions - from) }, (_, i) =>
        fillSession(store, from + i, perSession, from + i < open),
      ),
    );
  }
  const seconds = (performance.now() - began) / 1000;
  console.log(`filled in ${seconds.toFixed(1)} s, ${Math.round(events / seconds)} events/s`);
  process.kill(process.pid, 'SIGKILL');
}

async function fillSession(store: Store, n: number, events: number, open: boolean): Promise<void> {
  const ref = { scope: userScope({ id: `user${n % 100}` }), app: 'default', name: `s${n}` };
  const acquired = await store.acquire(ref, {
    holder: 'bench',
    create: { epoch: `e${String(n).padStart(10, '0')}` },
  });
  if (acquired.kind !== 'acquired') return;
  const log = { ...ref, epoch: acquired.head.epoch };
  const { term } = acquired.head;
  const runId = `run_${n}`;
  const ts = Date.now();
  const message = { id: `m${n}`, role: 'user', content: [{ type: 'text', text: 'go' }], createdAt: ts };
  const record = (type: EventRecord['type'], data: object): EventRecord => ({
    seq: 0,
    term: 0,
    type,
    ts,
    runId,
    body: JSON.stringify({ runId, ts, ...data }),
  });
  let batch = 0;
  await store.append(log, [record('message_accepted', { message, onBusy: 'queue', position: 0 })], {
    term,
    batch: ++batch,
    opens: {
      runId,
      request: JSON.stringify({
        messageId: message.id,
        user: null,
        metadata: {},
        clientTools: [],
        parameters: {},
      }),
    },
  });
  await store.append(log, [record('message_start', { messageId: `a${n}`, app: 'default' })], {
    term,
    batch: ++batch,
  });
  for (let left = events - (open ? 2 : 3); left > 0; left -= 8) {
    const deltas = Array.from({ length: Math.min(8, left) }, () =>
      record('content_delta', { delta: 'some words of an answer, as they come ', index: 0 }),
    );
    await store.append(log, deltas, { term, batch: ++batch });
  }
  if (!open) {
    const answer = {
      id: `a${n}`,
      role: 'assistant' as const,
      content: [{ type: 'text' as const, text: 'an answer' }],
      createdAt: ts,
    };
    await store.append(log, [record('message_end', { stopReason: 'end', message: answer })], {
      term,
      batch: ++batch,
      ends: [{ runId, result: { runId, message: answer, stopReason: 'end' } }],
    });
  }
  await store.release(ref, term);
}

async function start(store: Store): Promise<void> {
  const gateway = createGateway({ app, embedded: true, store });
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const began = performance.now();
  await gateway.start();
  const started = performance.now() - began;
  const listing = performance.now();
  const { sessions } = await gateway.sessions({ user: { id: 'user1' } });
  const listed = performance.now() - listing;
  const recovering = performance.now();
  while ((await store.unfinished()).length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const recovered = performance.now() - recovering;
  globalThis.gc?.();
  const now = process.memoryUsage();
  console.log(
    `start ${started.toFixed(1)} ms, ${sessions.length} sessions listed in ${listed.toFixed(1)} ms, lost runs ended ${recovered.toFixed(0)} ms later, rss ${mib(rss)} -> ${mib(now.rss)}, heap ${mib(heapUsed)} -> ${mib(now.heapUsed)}`,
  );
  await gateway.close();
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
