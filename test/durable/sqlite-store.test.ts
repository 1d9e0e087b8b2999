import { readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import {
  checkpointAt,
  message,
  newTestEpoch,
  record,
  records,
  refOf,
  refusal,
  resultOf,
  TestWriter,
} from '../../testing/stores/records.js';
import { crashed, newDatabase } from '../support/durable.js';
import { openStore } from '../support/open-store.js';

async function open(path: string): Promise<Store> {
  return openStore(sqliteStore({ path }));
}

const seqs = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('the SQLite store', () => {
  it('keeps every acknowledged event, key and run through a crash at any number of events, in chunks or not', async () => {
    const path = newDatabase();
    const store = await open(path);
    const writers = await Promise.all(seqs(0, 4).map((i) => TestWriter.acquire(store, refOf(`s${i}`))));
    const heads = writers.map(() => 0);
    // 1.6 MiB in all: the journal is moved into chunks on the way.
    for (let round = 0; round < 60; round++) {
      await Promise.all(
        writers.map((writer, i) => {
          const from = heads[i]! + 1;
          heads[i]! += 40;
          return writer.append(records(from, heads[i]!), {
            opens: { runId: `r${round}`, key: `k${round}`, hash: 'h', request: '{}' },
          });
        }),
      );
      if (round % 20 !== 19) continue;
      const again = await open(crashed(path));
      for (const [i, writer] of writers.entries()) {
        expect((await again.head(writer.log))?.head).to.equal(heads[i]);
        const events = await again.read(writer.log, 0, 10_000, 1 << 30);
        expect(events.map(({ seq }) => seq)).to.deep.equal(seqs(1, heads[i]!));
        for (const event of events) expect(JSON.parse(event.body).payload.n).to.equal(event.seq);
        expect(await again.run(writer.log, { key: `k${round}` })).to.include({ accepted: heads[i]! - 39 });
      }
    }
    expect(await writers[0]!.seqs(1000, 3)).to.deep.equal([1001, 1002, 1003]);
  });

  it('does not bring back from its journal what was cut', async () => {
    const path = newDatabase();
    const writer = await TestWriter.acquire(await open(path), refOf());
    await writer.append(records(1, 10));
    await writer.store.cut(writer.log, checkpointAt(7, 'm'), [message('m')], writer.term);
    await writer.append(records(11, 12));
    const again = await open(crashed(path));
    expect((await again.read(writer.log, 0, 100, 1 << 20)).map(({ seq }) => seq)).to.deep.equal(seqs(8, 12));
    expect(await again.head(refOf())).to.include({ first: 8, head: 12 });
  });

  it('commits what one turn appended in all sessions together, in its order', async () => {
    const store = await open(newDatabase());
    const [a, b] = [await TestWriter.acquire(store, refOf('a')), await TestWriter.acquire(store, refOf('b'))];
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const appends = [
      Promise.resolve(a.append(records(1, 2))).then(note('a1')),
      Promise.resolve(b.append(records(1, 1))).then(note('b1')),
      Promise.resolve(a.append(records(3, 3))).then(note('a2')),
    ];
    expect(await a.seqs(), 'nothing is seen before it is committed').to.deep.equal([]);
    await Promise.all(appends);
    expect(order).to.deep.equal(['a1', 'b1', 'a2']);
    expect(await a.seqs()).to.deep.equal([1, 2, 3]);
  });

  it('refuses one append of a turn without the others', async () => {
    const store = await open(newDatabase());
    const [a, b] = [await TestWriter.acquire(store, refOf('a')), await TestWriter.acquire(store, refOf('b'))];
    const good = a.append(records(1, 1));
    const bad = refusal(() => store.append(b.log, records(1, 1), { term: b.term, batch: 7 }));
    const more = b.append(records(1, 2));
    expect(await good).to.include({ last: 1 });
    expect(await bad).to.equal('ROLLED_BACK');
    expect(await more).to.include({ first: 1, last: 2 });
  });

  it('gives no term twice, whatever was lost of its events', async () => {
    const path = newDatabase();
    const store = await open(path);
    const terms: number[] = [];
    for (let i = 0; i < 3; i++) {
      terms.push((await TestWriter.acquire(store, refOf())).term);
      await store.release(refOf(), terms.at(-1)!);
    }
    const again = await open(crashed(path));
    terms.push(
      (await TestWriter.acquire(again, refOf())).term,
      (await TestWriter.acquire(again, refOf('x'))).term,
    );
    expect(new Set(terms).size).to.equal(5);
    expect(terms).to.deep.equal([...terms].sort((x, y) => x - y));
  });

  it('gives back to the file system what retention and expiry have dropped', async () => {
    const path = newDatabase();
    const store = await open(path);
    const size = async (): Promise<number> => {
      await store.close();
      const { size: bytes } = statSync(path);
      await store.open();
      return bytes;
    };
    for (let i = 0; i < 20; i++) {
      const writer = await TestWriter.acquire(store, refOf(`s${i}`));
      for (let n = 0; n < 20; n++) await writer.append(records(n * 100 + 1, n * 100 + 100));
      await writer.append([record(2001, 'session_closed')], { close: true });
    }
    const full = await size();
    await store.expire(Date.now() + 1);
    expect(await size()).to.be.lessThan(full / 4);
    const writer = await TestWriter.acquire(store, refOf('s0'));
    for (let n = 0; n < 100; n++) {
      await writer.append(records(n * 500 + 1, n * 500 + 500));
      if (n > 1) await store.cut(writer.log, checkpointAt((n - 1) * 500, null), [], writer.term);
    }
    await store.expire(0);
    expect(await size(), 'a log that is cut all the time does not grow').to.be.lessThan(full / 4);
  });

  it('lists, counts and finds what is unfinished from the file alone', async () => {
    const path = newDatabase();
    const first = await open(path);
    for (let i = 0; i < 10; i++) {
      const writer = await TestWriter.acquire(first, refOf(`s${i}`), { epoch: newTestEpoch() });
      const opens = { runId: `r${i}`, request: '{}' };
      await writer.append([record(1, 'message_accepted')], { opens });
      if (i % 3 !== 0)
        await writer.append([record(2, 'message_end')], {
          ends: [{ runId: `r${i}`, result: resultOf(`r${i}`) }],
        });
      if (i === 9) await writer.append([record(3, 'session_closed')], { close: true });
    }
    const again = await open(crashed(path));
    expect((await again.unfinished()).map(({ name }) => name)).to.deep.equal(['s0', 's3', 's6']);
    expect(await again.count('alice')).to.equal(9);
    const { acquired } = await TestWriter.acquire(again, refOf('s3'), null);
    expect(acquired.openRuns).to.deep.equal([
      { runId: 'r3', epoch: acquired.head.epoch, accepted: 1, request: '{}' },
    ]);
  });

  it('leaves one file, without a journal, when it is closed', async () => {
    const path = newDatabase();
    const store = await open(path);
    const writer = await TestWriter.acquire(store, refOf());
    await writer.append(records(1, 5));
    await store.close();
    expect(readFileSync(path).includes(Buffer.from('äöü'))).to.equal(true);
    expect(() => statSync(`${path}-wal`)).to.throw();
    expect(await refusal(() => writer.append(records(6, 6)))).to.equal('UNAVAILABLE');
  });
});
