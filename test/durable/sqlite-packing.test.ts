import { statSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp } from '../../server/index.js';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { LogRef, Store, StoredEvent } from '../../server/stores/store.js';
import { checkpointAt, record, records, refOf, TestWriter } from '../contract/records.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { jsonHeaders, post } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';

async function open(path: string): Promise<Store> {
  const store = closeLater(sqliteStore({ path }), (it) => it.close());
  await store.open();
  return store;
}

const pack = (store: Store) => store.expire({ runs: 0, closedLogs: 0 });

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
  it('keeps 0.6 MB of text, said in 100,000 pieces, in two megabytes, and every piece at its place', async () => {
    const PIECES = 100_000;
    const app = defineApp({
      async *run() {
        for (let index = 0; index < PIECES; index++) yield ` ${String(index).padStart(5, '0')}`;
      },
    });
    const path = newDatabase();
    const limits = { retention: { events: 2 * PIECES } };
    const { url, gateway } = await startDurable(path, { app, limits });
    await post(`${url}/send`, { sessionId: 'main', message: 'go' });
    const live = await openStream(`${url}/events?sessionId=main&from=earliest`, {
      headers: jsonHeaders(),
    });
    await live.until(({ event }) => event === 'message_end');
    await gateway.close();
    const before = statSync(path).size;
    const store = await open(path);
    await pack(store);
    await store.close();
    expect(before).to.be.greaterThan(8e6);
    expect(statSync(path).size).to.be.lessThan(2e6);
    const second = await startDurable(path, { app, limits });
    const from = live.logged[51_234]!;
    const again = await openStream(`${second.url}/events?sessionId=main`, {
      headers: { ...jsonHeaders(), 'last-event-id': from.id! },
    });
    await again.until(({ event }) => event === 'message_end');
    expect(again.logged).to.deep.equal(live.logged.slice(51_235));
  });

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

  it('puts what came in small pieces into few rows, and has none left to pack', async () => {
    const path = newDatabase();
    const store = await open(path);
    for (let n = 1; n <= 300; n++) {
      const writer = await TestWriter.acquire(store, refOf(), n === 1 ? undefined : null);
      await writer.append([record(n)]);
      await store.release(refOf(), writer.term);
      if (n % 50 === 0) await pack(store);
    }
    await store.close();
    expect(await chunksOf(path)).to.deep.equal({ loose: 0, packed: 2 });
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
