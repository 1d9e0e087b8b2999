import { tmpdir } from 'node:os';
import { redisStore } from '../server/stores/redis/index.js';
import { RedisServer } from '../test/support/redis-server.js';
import { record, refOf, TestWriter } from '../testing/stores/records.js';

/** Time of an append to a Redis that writes to its disk every second, or before each answer: `npx tsx bench/appendfsync.ts [rounds]`. */
const ROUNDS = Number(process.argv[2] ?? 3);
const SESSIONS = 50;
const SECONDS = 3;
/** Appends of a second, one after the other or as they are due. */
const RATES = [0, 2000, 8000];

async function open(durability: 'everysec' | 'always') {
  const options = ['--appendonly', 'yes', '--appendfsync', durability];
  const server = await RedisServer.start(options, undefined, tmpdir());
  const store = redisStore({ url: server.url, durability });
  await store.open();
  const writers = await Promise.all(
    Array.from({ length: SESSIONS }, (_, i) => TestWriter.acquire(store, refOf(`s${i}`))),
  );
  return { durability, server, store, writers };
}

async function times(writers: readonly TestWriter[], rate: number): Promise<number[]> {
  const taken: number[] = [];
  const pending: Promise<void>[] = [];
  const append = async (n: number): Promise<void> => {
    const began = performance.now();
    await writers[n % SESSIONS]!.append([{ ...record(1), body: `{"delta":"${'x'.repeat(400)}"}` }]);
    taken.push(performance.now() - began);
  };
  const end = performance.now() + SECONDS * 1000;
  for (let n = 0, from = performance.now(); performance.now() < end; ) {
    if (rate === 0) await append(n++);
    else {
      for (const due = ((performance.now() - from) / 1000) * rate; n < due; n++) pending.push(append(n));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
  await Promise.all(pending);
  return taken.sort((a, b) => a - b);
}

const kinds = [await open('everysec'), await open('always')];
for (let round = 1; round <= ROUNDS; round++)
  for (const { durability, writers } of kinds)
    for (const rate of RATES) {
      const taken = await times(writers, rate);
      const at = (part: number): string => taken[Math.floor(taken.length * part)]!.toFixed(2);
      const how = rate === 0 ? 'one after the other' : `${rate} a second`;
      console.log(`${round} ${durability}, ${how}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${taken.length})`);
    }
for (const { store, server } of kinds) {
  await store.close();
  await server.stop();
}
