import { expect } from 'chai';
import fc from 'fast-check';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import type { LogRef, StoredEvent } from '../../server/stores/stored.js';
import { checkpointAt, record, records, refOf, TestWriter } from '../../testing/stores/records.js';
import { crashed, newDatabase } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { open, pack } from './packed-store.js';

const all = async (store: Store, log: LogRef): Promise<readonly StoredEvent[]> =>
  store.read(log, 0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

async function chunksOf(path: string): Promise<{ readonly loose: number; readonly packed: number }> {
  const db = (await loadDriver())(path);
  const { loose, packed } = db
    .prepare(
      "SELECT total(typeof(data) = 'text') AS loose, total(typeof(data) = 'blob') AS packed FROM chunk",
    )
    .get()!;
  db.close();
  return { loose: Number(loose), packed: Number(packed) };
}

describe('the SQLite store, packing', () => {
  it('reads the same before and after, however events came, and whatever is cut meanwhile', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 700 }) }) },
      { weight: 3, arbitrary: fc.constant('release' as const) },
      { weight: 1, arbitrary: fc.constant('pack' as const) },
      { weight: 3, arbitrary: fc.record({ cut: fc.double({ min: 0, max: 1, noNaN: true }) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const path = newDatabase();
        const store = sqliteStore({ path });
        await store.open();
        let writer = await TestWriter.acquire(store, refOf());
        const ref = writer.log;
        const expected: string[] = [];
        let [head, first] = [0, 1];
        const packing: Promise<void>[] = [];
        for (const next of steps) {
          if (next === 'release') {
            await store.release(ref, writer.term);
            writer = await TestWriter.acquire(store, refOf(), null);
          } else if (next === 'pack') packing.push(Promise.resolve(pack(store)));
          else if ('append' in next) {
            const events = records(head + 1, head + next.append);
            expected.push(...events.map(({ body }) => body));
            await writer.append(events);
            head += next.append;
          } else if (head >= first) {
            // Into what is being packed.
            await store.release(ref, writer.term);
            writer = await TestWriter.acquire(store, refOf(), null);
            packing.push(Promise.resolve(pack(store)));
            const seq = first + Math.floor(next.cut * (head - first));
            await store.cut(ref, checkpointAt(seq, null), [], writer.term);
            first = seq + 1;
          }
        }
        await Promise.all(packing);
        const check = async (it: Store): Promise<void> => {
          const events = await all(it, ref);
          expect(events.map(({ seq }) => seq)).to.deep.equal(
            Array.from({ length: head - first + 1 }, (_, i) => first + i),
          );
          expect(events.map(({ body }) => body)).to.deep.equal(expected.slice(first - 1));
        };
        await check(store);
        const left = await open(crashed(path));
        await check(left);
        const size = await left.usage(ref);
        await pack(left);
        await check(left);
        expect(await left.usage(ref)).to.deep.equal(size);
        // Nothing that was cut came back, and nothing was counted twice.
        if (head >= first) await store.cut(ref, checkpointAt(head, null), [], writer.term);
        expect((await store.usage(ref)).session).to.equal(0);
        await store.close();
        expect(await chunksOf(path)).to.deep.equal({ loose: 0, packed: 0 });
      }),
      { numRuns: cases(12) },
    );
  });

  it('puts what came in small pieces into few rows, and leaves no more than fill a page', async () => {
    const path = newDatabase();
    const store = await open(path);
    for (let n = 1; n <= 300; n++) {
      const writer = await TestWriter.acquire(store, refOf(), n === 1 ? undefined : null);
      await writer.append([record(n)]);
      await store.release(refOf(), writer.term);
      if (n % 50 === 0) await pack(store);
    }
    await store.close();
    const { loose, packed } = await chunksOf(path);
    expect(packed).to.equal(2);
    expect(loose).to.be.below(4096 / 128);
  });

  it('stops when the store is closed meanwhile', async () => {
    const path = newDatabase();
    const store = await open(path);
    const writer = await TestWriter.acquire(store, refOf());
    for (let n = 0; n < 20; n++) await writer.append(records(n * 500 + 1, n * 500 + 500));
    await store.release(refOf(), writer.term);
    const packing = pack(store);
    await store.close();
    await packing;
    const again = await open(path);
    expect((await all(again, writer.log)).length).to.equal(10_000);
  });
});
