import { join } from 'node:path';
import { expect } from 'chai';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { refOf } from '../../testing/stores/records.js';
import { crashed } from '../support/durable.js';
import { ROOT, runProgram } from '../support/program.js';
import { randomOf } from '../support/random.js';
import { tempDir } from '../support/temp-dir.js';
import { preloadedDisk, TracedDisk } from './disk/traced-disk.js';
import { open } from './packed-store.js';

const FILES = ['gateway.db', 'gateway.db-wal'];
const CUTS = Number(process.env.POWER_CUTS ?? 60);
const SEED = Number(process.env.POWER_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** What is wrong with a database whose power was lost at a step. */
async function lossesOf(disk: TracedDisk, step: number, random: () => number): Promise<readonly string[]> {
  const share = [0, 0.5, 0.9, 1][Math.floor(random() * 4)]!;
  const path = join(disk.lostAt(step, FILES, share, random), 'gateway.db');
  const told = `at step ${step} of ${disk.steps.length} with ${share} of what was not synced`;
  // A connection keeps its lock until it is collected as garbage.
  const db = (await loadDriver())(crashed(path));
  const damages = db
    .prepare('PRAGMA integrity_check')
    .all()
    .map(({ integrity_check }) => integrity_check);
  db.close();
  if (damages.join() !== 'ok') return [`${told}: ${damages.slice(0, 3).join('; ')}`];
  const store = await open(path);
  const answers = disk.seen('answers', step).toString('utf8').split('\n').slice(0, -1);
  const last = new Map(answers.map((line) => [line.split(' ')[1]!, line.split(' ')] as const));
  const lost: string[] = [];
  for (const [n, [epoch, , i]] of last) {
    const log = { ...refOf(`s${n}`), epoch: epoch! };
    const events = await store.read(log, 0, 1e6, 1e9);
    const numbers = events.map(({ body }) => (JSON.parse(body) as { i: number }).i);
    if (numbers.length < Number(i)) lost.push(`${told}: s${n} has ${numbers.length} of ${i} answered`);
    expect(numbers).to.deep.equal(numbers.map((_, at) => at + 1));
  }
  await store.close();
  return lost;
}

describe('the SQLite store, when the power is lost', () => {
  for (const full of [false, true])
    it(`keeps what it answered, and is not damaged (${full ? 'full' : 'normal'}, POWER_SEED=${SEED})`, async function () {
      const library = preloadedDisk();
      if (!library) return this.skip();
      const folder = tempDir();
      const trace = join(tempDir(), 'trace');
      const env = { LD_PRELOAD: library, DISK_PATH: folder, DISK_TRACE: trace, DISK_SYNC_MS: '1' };
      const args = [folder, full ? '100' : '300', ...(full ? ['full'] : [])];
      await runProgram(join(ROOT, 'test/durable/power-program.ts'), { args, env }).prints(/done/);
      const disk = new TracedDisk(trace);
      const random = randomOf(SEED);
      // Nothing is promised before the file is there.
      const first = disk.steps.findIndex(({ name }) => name === 'answers');
      expect(first).to.be.above(0);
      const wrong: string[] = [];
      for (let cut = 0; cut < CUTS; cut++) {
        const step = first + Math.ceil(random() * (disk.steps.length - first));
        wrong.push(...(await lossesOf(disk, step, random)));
      }
      expect(wrong).to.deep.equal([]);
    });
});
