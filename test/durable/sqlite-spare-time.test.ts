import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteConnection } from '../../server/stores/sqlite/connection.js';
import { loadDriver, type SqliteDatabase } from '../../server/stores/sqlite/driver.js';
import { DroppedRows } from '../../server/stores/sqlite/dropped-rows.js';
import { expireRecords } from '../../server/stores/sqlite/expiry.js';
import { SpareTime } from '../../server/stores/sqlite/spare-time.js';
import { records, refOf, TestWriter } from '../../testing/stores/records.js';
import { newDatabase } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { closeLater } from '../support/resources.js';
import { open } from './packed-store.js';

/** A clock that stands, but for those who move it. */
class HeldClock {
  ms = 0;
  readonly rests: number[] = [];
  readonly now = (): number => this.ms;
  readonly sleep = (ms: number): Promise<void> => {
    this.rests.push(ms);
    this.ms += ms;
    return new Promise(setImmediate);
  };
}

/** A file with logs of so many events each. */
async function fileWith(logs: readonly number[]): Promise<string> {
  const path = newDatabase();
  const store = await open(path);
  for (const [i, events] of logs.entries()) {
    const writer = await TestWriter.acquire(store, refOf(`s${i}`));
    await writer.append(records(1, events));
  }
  await store.close();
  return path;
}

/** The connection to a file, and what was done by it. */
async function counted(path: string) {
  const did = { commits: 0, packed: 0, statements: 0 };
  const driver = await loadDriver();
  const count = (db: SqliteDatabase): SqliteDatabase => ({
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql);
      const noted = <T>(work: () => T): T => {
        did.statements += 1;
        if (sql === 'COMMIT') did.commits += 1;
        if (sql.startsWith('INSERT INTO chunk')) did.packed += 1;
        return work();
      };
      return {
        run: (...values) => noted(() => statement.run(...values)),
        get: (...values) => noted(() => statement.get(...values)),
        all: (...values) => noted(() => statement.all(...values)),
      };
    },
  });
  const connection = SqliteConnection.open((name) => count(driver(name)), path);
  closeLater(connection, (it) => it.close());
  return { connection, did };
}

const SMALL = 4;
const LARGE = 60;

describe('the SQLite store, without hurry', () => {
  it('packs many logs in one transaction, and leaves alone what would not fill a page', async () => {
    const logs = Array.from({ length: 150 }, (_, i) => (i % 3 === 0 ? LARGE : SMALL));
    const { connection, did } = await counted(await fileWith(logs));
    const clock = new HeldClock();
    await expireRecords(connection, new DroppedRows(connection), 0, new SpareTime(clock));
    expect(did.packed).to.equal(50);
    // One for what is too old, of which there is nothing.
    expect(did.commits - 1).to.be.at.most(Math.ceil(50 / 16));
    // What is left alone costs no more than a look at many of them at once.
    const again = did.statements;
    await expireRecords(connection, new DroppedRows(connection), 0, new SpareTime(clock));
    expect(did.packed).to.equal(50);
    expect(did.statements - again).to.be.at.most(8);
  });

  it('rests between small shares of the work', async () => {
    const { connection, did } = await counted(await fileWith(Array.from({ length: 100 }, () => LARGE)));
    const clock = new HeldClock();
    const shares: number[] = [];
    let before = 0;
    const sleep = (ms: number): Promise<void> => {
      shares.push(did.packed - before);
      before = did.packed;
      return clock.sleep(ms);
    };
    // Each look at the clock is a millisecond later, so each stretch takes one.
    const now = (): number => clock.ms++;
    await expireRecords(connection, new DroppedRows(connection), 0, new SpareTime({ now, sleep }));
    expect(did.packed).to.equal(100);
    expect(Math.max(...shares)).to.be.at.most(64);
    const restedMs = clock.rests.reduce((sum, ms) => sum + ms, 0);
    expect(restedMs / clock.ms).to.be.above(0.9);
  });

  it('takes a hundredth of the event loop, and five for what has not ended within a minute', async () => {
    const stretch = fc.integer({ min: 0, max: 2000 });
    await fc.assert(
      fc.asyncProperty(fc.array(stretch, { maxLength: 60 }), async (stretches) => {
        const clock = new HeldClock();
        const time = new SpareTime(clock);
        for (const ms of stretches) {
          time.spend(() => (clock.ms += ms));
          const hurries = clock.ms >= 60_000;
          await time.rest();
          expect(clock.rests.at(-1)).to.be.closeTo(ms * (hurries ? 19 : 99), 1e-6);
        }
      }),
      { numRuns: cases(20) },
    );
  });
});
