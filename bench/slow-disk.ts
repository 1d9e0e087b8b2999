import { spawnSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGateway, defineApp } from '../server/index.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import { preloadedDisk } from '../test/durable/disk/traced-disk.js';
import { newDatabase } from '../test/support/durable.js';

/**
 * How late pieces are, and the event loop, on a disk whose sync takes so long: `npx tsx bench/slow-disk.ts [sync ms] [seconds]`. 20 answers have 40 pieces
 * a second each, beside 25 short turns a second in other sessions, each of which waits for the disk.
 */
const [SYNC_MS = '10', SECONDS = '6'] = process.argv.slice(2);
const ANSWERS = 20;
const PIECE_MS = 25;
const TURN_MS = 40;
const SHORT_SESSIONS = 30;

if (process.env.DISK_SYNC_MS === undefined) {
  const library = preloadedDisk();
  if (!library) throw new Error('It needs Linux, and a C compiler named cc');
  const env = { ...process.env, LD_PRELOAD: library, DISK_PATH: 'gateway.db', DISK_SYNC_MS: SYNC_MS };
  const args = [...process.execArgv, fileURLToPath(import.meta.url), SYNC_MS, SECONDS];
  process.exit(spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1);
}

const app = defineApp({
  async *run({ text }) {
    const began = performance.now();
    const pieces = text === 'short' ? 1 : (Number(SECONDS) * 1000) / PIECE_MS;
    for (let i = 0; i < pieces; i++) {
      const due = began + i * PIECE_MS;
      await delay(Math.max(0, due - performance.now()));
      yield `${due.toFixed(2)} is when these fifty characters were due to go; `;
    }
  },
});
const limits = { sendsPerSecond: 1e6, loopDelayMs: 1e9 };
const store = sqliteStore({ path: newDatabase() });
const gateway = createGateway({ app, store, limits, auth: { type: 'none' } });
await gateway.start();
const turn = (i: number) => gateway.session(`short${i % SHORT_SESSIONS}`).send('short').result;
for (let i = 0; i < SHORT_SESSIONS; i++) await turn(i);

const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
const late: number[] = [];
const took: number[] = [];
const follow = async (id: string): Promise<void> => {
  for await (const event of gateway.session(id).send('long')) {
    if (event.type !== 'content_delta') continue;
    const now = performance.now();
    for (const [due] of event.delta.matchAll(/[\d.]+(?= is when)/g)) late.push(now - Number(due));
  }
};
let turns = 0;
const timer = setInterval(async () => {
  const began = performance.now();
  await turn(turns++);
  took.push(performance.now() - began);
}, TURN_MS);
await Promise.all(Array.from({ length: ANSWERS }, (_, i) => follow(`long${i}`)));
clearInterval(timer);
loop.disable();

const at = (values: number[], share: number): string =>
  (values.sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN).toFixed(1);
const ofLoop = [50, 99, 100].map((share) => (loop.percentile(share) / 1e6).toFixed(1));
console.log(
  `sync ${SYNC_MS} ms: the loop is late by p50 ${ofLoop[0]}, p99 ${ofLoop[1]}, at most ${ofLoop[2]} ms`,
);
console.log(
  `${late.length} pieces by p50 ${at(late, 0.5)}, p99 ${at(late, 0.99)}, at most ${at(late, 1)} ms`,
);
console.log(`${took.length} short turns take p50 ${at(took, 0.5)}, p99 ${at(took, 0.99)} ms`);
await gateway.close();
process.exit(0);
