import { join } from 'node:path';
import { expect } from 'chai';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { refOf } from '../../testing/stores/records.js';
import { crashed } from '../support/durable.js';
import { ROOT, runProgram } from '../support/program.js';
import { randomOf } from '../support/random.js';
import { tempDir } from '../support/temp-dir.js';
import { preloadedDisk, type Step, TracedDisk } from './disk/traced-disk.js';
import { open } from './packed-store.js';

const FILES = ['gateway.db', 'gateway.db-wal'];
const CUTS = Number(process.env.POWER_CUTS ?? 60);
/** Steps behind a move in which the power may be lost. */
const BEHIND = 40;
const SEED = Number(process.env.POWER_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** What is wrong with a database whose power was lost at a step. */
async function lossesOf(disk: TracedDisk, step: number, random: () => number): Promise<readonly string[]> {
  const path = join(disk.lostAt(step, FILES, random), 'gateway.db');
  const told = `at step ${step} of ${disk.steps.length}`;
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

/** What of a file is written, and on the disk for sure. */
class Written {
  #writes = 0;
  #synced = 0;
  readonly #begun: number[] = [];

  get isSynced(): boolean {
    return this.#synced === this.#writes;
  }

  note({ kind }: Step): void {
    if (kind === 'sync') this.#begun.push(this.#writes);
    else if (kind === 'synced') this.#synced = Math.max(this.#synced, this.#begun.shift() ?? 0);
    else this.#writes += 1;
  }
}

/** Where the order of writes and syncs would cost data if the power were lost. Most of such moments are short, and cuts would seldom meet them. */
function disorderIn(steps: readonly Step[], first: number): readonly string[] {
  const [file, log] = [new Written(), new Written()];
  const wrong: string[] = [];
  let isMoved = false;
  let isErased = false;
  for (const [i, step] of steps.entries()) {
    const { kind, name, at, bytes } = step;
    const must = (isRight: boolean, what: string): void => {
      if (!isRight && i > first) wrong.push(`step ${i}: ${what}`);
    };
    if (kind === 'write' && name === FILES[0]) {
      must(log.isSynced, 'a page is moved before the log is synced');
      isMoved = true;
    } else if (kind === 'write' && name === FILES[1] && isMoved) {
      must(file.isSynced, 'the log begins anew before the file is synced');
      if (at === 0 && bytes.length === 32 && bytes.every((byte) => byte === 0)) isErased = true;
      else {
        must(isErased && log.isSynced, 'the log begins anew before its header is gone');
        isMoved = isErased = false;
      }
    }
    if (name === FILES[0]) file.note(step);
    if (name === FILES[1]) log.note(step);
  }
  return wrong;
}

describe('the SQLite store, when the power is lost', () => {
  for (const full of [false, true])
    it(`keeps what it answered, and is not damaged (${full ? 'full' : 'normal'}, POWER_SEED=${SEED})`, async function () {
      const library = preloadedDisk();
      if (!library) return this.skip();
      const folder = tempDir();
      const trace = join(tempDir(), 'trace');
      const env = { LD_PRELOAD: library, DISK_PATH: folder, DISK_TRACE: trace, DISK_SYNC_MS: '1' };
      const args = [folder, '300', ...(full ? ['full'] : [])];
      await runProgram(join(ROOT, 'test/durable/power-program.ts'), { args, env }).prints(/done/);
      const disk = new TracedDisk(trace);
      const random = randomOf(SEED);
      // Nothing is promised before the file is there.
      const first = disk.steps.findIndex(({ name }) => name === 'answers');
      expect(first).to.be.above(0);
      // What matters most is when pages are moved from the log into the file, and the log begins anew.
      const isMove = (i: number): boolean => {
        const { kind, name } = disk.steps[i]!;
        return kind === 'write' && name === FILES[0];
      };
      const moves = disk.steps.flatMap((_, i) => (i > first && isMove(i) ? i : []));
      const ends = moves.filter((at, i) => (moves[i + 1] ?? Number.POSITIVE_INFINITY) > at + 5);
      expect(ends.length).to.be.above(2);
      expect(disorderIn(disk.steps, first)).to.deep.equal([]);
      const wrong: string[] = [];
      for (let cut = 0; cut < CUTS; cut++) {
        const of = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
        const [near, behind] = of([
          [first, disk.steps.length - first],
          [of(moves), 1],
          [of(ends), BEHIND],
        ] as const);
        const step = Math.min(disk.steps.length, near + Math.ceil(random() * behind));
        wrong.push(...(await lossesOf(disk, step, random)));
      }
      expect(wrong).to.deep.equal([]);
    });
});
