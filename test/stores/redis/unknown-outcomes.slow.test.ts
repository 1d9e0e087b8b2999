import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import { record, refOf, refusal, resultOf, TestWriter } from '../../../testing/stores/records.js';
import { Line } from '../../support/line.js';
import { openStore } from '../../support/open-store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';

/** Numbers of a range, the same each time. */
function pseudoRandom(from: number, range: number): () => number {
  let seed = 7;
  return () => {
    seed = (seed * 16807) % 2147483647;
    return from + (seed % range);
  };
}

describeWithRedis('Redis, where answers are lost', () => {
  let server: RedisServer;
  let line: Line;
  let store: Store;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());

  beforeEach(async () => {
    line = await Line.to(server.port);
    store = await openStore(redisStore({ url: `redis://127.0.0.1:${line.port}`, prefix: newPrefix() }));
  });

  it('writes each batch once, however often the connection breaks in the middle of an answer', async () => {
    const writers = [];
    for (let i = 0; i < 8; i++) writers.push(await TestWriter.acquire(store, refOf(`s${i}`)));
    line.cutAfter = pseudoRandom(200, 2000);
    line.blink();
    await Promise.all(
      writers.map(async (writer, w) => {
        for (let i = 1; i <= 60; i++) {
          const runId = `run_${w}_${i}`;
          const kind = i % 4;
          const at = kind === 0 ? { opens: { runId, key: `k${i}`, hash: 'h', request: '{}' } } : {};
          const last = `run_${w}_${i - 1}`;
          const ends = kind === 1 && i > 1 ? { ends: [{ runId: last, result: resultOf(last) }] } : {};
          const steps = kind === 2 ? { steps: [{ runId: `run_${w}_${i}`, number: i, name: 's' }] } : {};
          const type = kind === 0 ? 'message_accepted' : kind === 1 ? 'message_end' : 'custom';
          const events = [record(i, 'custom'), { ...record(i, type), runId: kind === 1 ? last : runId }];
          expect(await writer.append(events, { ...at, ...ends, ...steps })).to.include({
            first: 2 * i - 1,
            last: 2 * i,
          });
        }
      }),
    );
    line.cutAfter = undefined;
    line.blink();
    expect(line.cuts, 'there were cuts').to.be.greaterThan(10);
    for (const [w, writer] of writers.entries()) {
      expect(await writer.seqs()).to.deep.equal(Array.from({ length: 120 }, (_, i) => i + 1));
      const ns = (await store.read(writer.log, 0, 999, 1 << 20)).map(
        ({ body }) => JSON.parse(body).payload.n,
      );
      expect(ns).to.deep.equal(Array.from({ length: 120 }, (_, i) => (i >> 1) + 1));
      expect(await store.run(refOf(`s${w}`), { key: 'k4' })).to.have.nested.property('result.runId');
    }
  });

  it('takes a session that is begun, and says so, though the first answer was lost', async () => {
    line.cutAfter = pseudoRandom(1500, 4000);
    line.blink();
    for (let i = 0; i < 40; i++) {
      const writer = await TestWriter.acquire(store, refOf(`a${i}`));
      expect(writer.acquired.created).to.equal(true);
      expect(await writer.append([record(1)])).to.include({ first: 1 });
    }
    expect(line.cuts).to.be.greaterThan(3);
  });

  it('puts a record for one alone, though answers are lost', async () => {
    await TestWriter.acquire(store, refOf());
    line.cutAfter = pseudoRandom(1500, 1500);
    line.blink();
    for (let i = 0; i < 800; i++) {
      const puts = Array.from({ length: 4 }, () =>
        Promise.resolve(
          store.changeRecords(refOf(), [{ kind: 'k', id: `n${i}`, value: '1', token: 0 }]),
        ).catch(({ code }) => code),
      );
      const answers = await Promise.all(puts);
      const done = answers.filter((answer) => answer === true || answer === 'UNKNOWN');
      expect(answers.filter((answer) => answer === true).length, `record ${i}: ${answers}`).to.be.at.most(1);
      expect(done.length, `record ${i}: ${answers}`).to.be.at.least(1);
    }
    line.cutAfter = undefined;
    line.blink();
    expect(line.cuts).to.be.greaterThan(3);
  });

  it('says of an append without an answer that it is not known, and of one that was not sent that it was not made', async () => {
    const lasting = await openStore(
      redisStore({ url: `redis://127.0.0.1:${line.port}`, prefix: newPrefix(), leaseMs: 200 }),
    );
    const writer = await TestWriter.acquire(lasting, refOf());
    line.cut();
    expect(await refusal(() => writer.append([record(1)]))).to.be.oneOf(['UNKNOWN', 'UNAVAILABLE']);
    line.mend();
    writer.batch = 0;
    expect(await writer.append([record(1)])).to.include({ first: 1, last: 1 });
    expect(await writer.seqs()).to.deep.equal([1]);
  });
});
