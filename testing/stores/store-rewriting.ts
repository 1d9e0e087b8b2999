import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { RewrittenEvent, StoredEvent } from '../../server/stores/index.js';
import {
  chain,
  checkpointAt,
  type MakeStore,
  opened,
  record,
  records,
  refOf,
  refusal,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const anew = (...seqs: readonly number[]): RewrittenEvent[] =>
  seqs.map((seq) => ({ seq, body: JSON.stringify({ anew: seq, text: 'ä – 😀\ud800' }) }));

/** Tests events that say something else from a batch on. */
export function describeRewriting(makeStore: MakeStore): void {
  describe('rewriting', () => {
    let store: Store;
    let made: StoreUnderTest;
    let writer: TestWriter;
    /** The events as they have to be. */
    let kept: StoredEvent[];
    const append = async (from: number, to: number): Promise<void> => {
      const events = records(from, to);
      await writer.append(events);
      kept.push(...events);
    };
    const rewrite = (events: readonly RewrittenEvent[]): void => {
      for (const { seq, body } of events)
        kept = kept.map((event) => (event.seq === seq ? { ...event, body } : event));
    };
    const all = async () => store.read(writer.log, 0, 10_000, 1 << 24);
    const sizeOf = (events: readonly StoredEvent[]) => events.reduce((sum, { body }) => sum + body.length, 0);
    const check = async (): Promise<void> => {
      expect(await all()).to.deep.equal(kept);
      const size = sizeOf(kept);
      expect(await store.usage(refOf())).to.deep.equal({ session: size, scope: size });
    };

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      writer = await TestWriter.acquire(store, refOf());
      kept = [];
    });

    it('gives events other bodies, and leaves place, type, run and time of each, and all others', async () => {
      await append(1, 3);
      await append(4, 4);
      await append(5, 700);
      await append(701, 703);
      const events = anew(2, 4, 5, 700, 703, 702);
      const last = record(704, 'message_replaced');
      expect(await writer.append([last], { rewrites: { events } })).to.include({ first: 704, last: 704 });
      kept.push(last);
      rewrite(events);
      await check();
      expect(await store.head(refOf())).to.include({ first: 1, head: 704 });
      await append(705, 706);
      await check();
      expect(await writer.seqs(701, 2)).to.deep.equal([702, 703]);
    });

    it('gives them again others, in a batch without events', async () => {
      await append(1, 6);
      for (const events of [anew(1, 2), [{ seq: 2, body: '{}' }], anew(6)]) {
        await writer.append([], { rewrites: { events } });
        rewrite(events);
        await check();
      }
    });

    it('leaves out what was cut, and cuts what was rewritten', async () => {
      await append(1, 4);
      await append(5, 8);
      await store.cut(writer.log, checkpointAt(4, null), [], writer.term);
      kept = kept.slice(4);
      const events = anew(1, 4, 5, 8, 99);
      await writer.append([], { rewrites: { events } });
      rewrite(events);
      expect(await all()).to.deep.equal(kept);
      await append(9, 10);
      await store.cut(writer.log, checkpointAt(10, null), [], writer.term);
      kept = [];
      await check();
    });

    it('replaces the checkpoint, if it is the one at that place', async () => {
      const other = (seq: number) => ({ ...checkpointAt(seq, 'm0'), state: checkpointAt(seq, 'm1').state });
      await append(1, 4);
      await writer.append([], { rewrites: { events: [], checkpoint: other(2) } });
      expect(await store.checkpoint(writer.log)).to.equal(null);
      await store.cut(writer.log, checkpointAt(2, 'm0'), chain(['m0', 'm1']), writer.term);
      await writer.append([], { rewrites: { events: [], checkpoint: other(1) } });
      expect(await store.checkpoint(writer.log)).to.deep.equal(checkpointAt(2, 'm0'));
      await writer.append([], { rewrites: { events: anew(3), checkpoint: other(2) } });
      expect(await store.checkpoint(writer.log)).to.deep.equal(other(2));
    });

    it('is the writer’s alone, and is done once', async () => {
      await append(1, 4);
      const options = { term: writer.term, batch: writer.batch + 1 };
      const events = anew(2);
      await writer.append([], { rewrites: { events } });
      rewrite(events);
      await writer.append([], { rewrites: { events: anew(3) } });
      rewrite(anew(3));
      // The first of them, sent again because its answer was lost.
      await store.append(writer.log, [], { ...options, rewrites: { events: [{ seq: 3, body: '{}' }] } });
      await check();
      const next = await TestWriter.acquire(store, refOf(), null);
      expect(await refusal(() => writer.append([], { rewrites: { events: anew(1) } }))).to.equal('FENCED');
      await check();
      await next.append([], { rewrites: { events: anew(1) } });
      rewrite(anew(1));
      await check();
    });

    it('is not done where the batch is not written', async () => {
      await append(1, 4);
      const opens = { runId: 'r', key: 'k', hash: 'h', request: '{}' };
      await append(5, 5);
      await writer.append([], { opens });
      const again = await writer.append([], { opens, rewrites: { events: anew(1) } });
      expect(again.duplicate).to.include({ runId: 'r' });
      await check();
    });

    it('is kept', async () => {
      if (!made.reopen) return;
      await append(1, 600);
      await append(601, 604);
      const events = anew(3, 600, 601, 604);
      await writer.append([], { rewrites: { events } });
      rewrite(events);
      await append(605, 606);
      store = await made.reopen();
      await check();
    });
  });
}
