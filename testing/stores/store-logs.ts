import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import { formatCursor, parseCursor } from '../../shared/cursor.js';
import { formatPlace, hashOfAll, parsePlace } from '../../shared/inbox/inbox-place.js';
import {
  chain,
  checkpointAt,
  type MakeStore,
  message,
  opened,
  record,
  records,
  refOf,
  refusal,
  TestWriter,
} from './records.js';
import { beforeEach, closeLater, describe, it, until } from './runner.js';

/** Appending, reading, cutting and waking. */
export function describeLogs(makeStore: MakeStore): void {
  describe('logs', () => {
    let store: Store;
    let writer: TestWriter;

    beforeEach(async () => {
      ({ store } = await opened(makeStore));
      writer = await TestWriter.acquire(store, refOf());
    });

    it('numbers events densely from 1 and returns them as they were written', async () => {
      const { epoch } = writer.log;
      expect(await writer.append(records(1, 2))).to.deep.equal({ epoch, first: 1, last: 2 });
      expect(await writer.append(records(3, 3))).to.deep.equal({ epoch, first: 3, last: 3 });
      const kept = await store.read(writer.log, 0, 10, 1 << 20);
      const expected = records(1, 3).map((event, i) => ({ ...event, seq: i + 1, term: writer.term }));
      expect(kept.map((event) => ({ ...event }))).to.deep.equal(expected);
    });

    it('gives places that are the same after their way to a client', async () => {
      await writer.append(records(1, 3));
      const { epoch, term, head: seq } = (await store.head(refOf()))!;
      expect(parseCursor(formatCursor(epoch, term, seq))).to.deep.equal({ epoch, term: writer.term, seq: 3 });
      const { now } = await store.takeDue({ limit: 1, leaseMs: 1 });
      const place = { at: now, sessions: hashOfAll(['main', 'other']) };
      expect(parsePlace(formatPlace(place)), 'of an inbox').to.deep.equal(place);
    });

    it('fills the place into the records it was given', async () => {
      const events = records(1, 3);
      await writer.append(events);
      // The gateway delivers these very objects; a store may keep them, or not.
      expect(events.map(({ seq, term }) => [seq, term])).to.deep.equal(
        [1, 2, 3].map((seq) => [seq, writer.term]),
      );
    });

    it('answers a resent batch like the first time and writes it once', async () => {
      await writer.append(records(1, 2));
      const sent = await writer.append(records(3, 5));
      const { term, batch } = writer;
      expect(await store.append(writer.log, records(3, 5), { term, batch })).to.deep.equal(sent);
      expect(await writer.seqs()).to.deep.equal([1, 2, 3, 4, 5]);
      expect(await writer.append(records(6, 6))).to.include({ first: 6 });
    });

    it('answers a resent batch with a key as written, not as a duplicate', async () => {
      const opens = { runId: 'r', key: 'k', hash: 'h', request: '{}' };
      const sent = await writer.append(records(1, 2), { opens });
      const { term, batch } = writer;
      const again = await store.append(writer.log, records(1, 2), { term, batch, opens });
      expect(again).to.deep.equal(sent);
      expect(again).to.not.have.property('duplicate');
    });

    it('answers a closing batch that comes again, until its session begins anew', async () => {
      await writer.append(records(1, 1));
      const closing = [record(2, 'session_closed')];
      const closed = await writer.append(closing, { close: true });
      const { term, batch } = writer;
      const again = () => store.append(writer.log, closing, { term, batch, close: true });
      expect(await again()).to.deep.equal(closed);
      const next = { term, batch: batch + 1 };
      expect(await refusal(() => store.append(writer.log, records(3, 3), next))).to.equal('FENCED');
      await TestWriter.acquire(store, refOf());
      expect(await refusal(again)).to.equal('FENCED');
    });

    it('refuses a batch whose predecessor it does not have', async () => {
      await writer.append(records(1, 1));
      const { term } = writer;
      expect(await refusal(() => store.append(writer.log, records(2, 2), { term, batch: 3 }))).to.equal(
        'ROLLED_BACK',
      );
      expect(await writer.seqs()).to.deep.equal([1]);
      const other = await TestWriter.acquire(store, refOf('other'));
      expect(
        await refusal(() => store.append(other.log, records(1, 1), { term: other.term, batch: 2 })),
      ).to.equal('ROLLED_BACK');
    });

    it('counts batches from 1 in every term', async () => {
      await writer.append(records(1, 1));
      await writer.append(records(2, 2));
      await store.release(refOf(), writer.term);
      const next = await TestWriter.acquire(store, refOf(), null);
      expect(await next.append(records(3, 3))).to.include({ first: 3, last: 3 });
    });

    it('reads pages bounded by number and by size, never an empty one where there is more', async () => {
      await writer.append(records(1, 20));
      const size = record(1).body.length;
      expect(await writer.seqs(0, 3)).to.deep.equal([1, 2, 3]);
      expect(await writer.seqs(17, 100)).to.deep.equal([18, 19, 20]);
      expect(await writer.seqs(20)).to.deep.equal([]);
      expect(await writer.seqs(99)).to.deep.equal([]);
      expect(await writer.seqs(5, 100, 1)).to.deep.equal([6]);
      const some = await writer.seqs(0, 100, size * 4);
      expect(some.length, 'one past the bound at most').to.be.within(4, 5);
      const all: number[] = [];
      for (
        let page = await writer.seqs(0, 7, size * 3);
        page.length > 0;
        page = await writer.seqs(all.at(-1), 7, size * 3)
      ) {
        all.push(...page);
      }
      expect(all).to.deep.equal(Array.from({ length: 20 }, (_, i) => i + 1));
    });

    it('cuts: events go, the checkpoint and the messages stay, first rises', async () => {
      await writer.append(records(1, 10));
      await store.cut(writer.log, checkpointAt(4, 'm1'), chain(['m0', 'm1']), writer.term);
      expect(await store.head(refOf())).to.include({ first: 5, head: 10 });
      expect(await store.checkpoint(writer.log)).to.deep.equal(checkpointAt(4, 'm1'));
      expect(await writer.seqs(4)).to.deep.equal([5, 6, 7, 8, 9, 10]);
      expect((await writer.seqs(0))[0], 'never an event that was cut').to.equal(5);
      await store.cut(writer.log, checkpointAt(10, 'm2'), [message('m2', 'm1')], writer.term);
      expect(await store.head(refOf())).to.include({ first: 11, head: 10 });
      expect(await writer.seqs(0)).to.deep.equal([]);
      expect(await writer.append(records(11, 11))).to.include({ first: 11, last: 11 });
      expect(await store.checkpoint(writer.log)).to.deep.equal(checkpointAt(10, 'm2'));
    });

    it('is cut by its writer only', async () => {
      await writer.append(records(1, 4));
      const next = await TestWriter.acquire(store, refOf(), null);
      const cut = (term: number) => () => store.cut(writer.log, checkpointAt(2, 'm0'), [message('m0')], term);
      expect(await refusal(cut(writer.term))).to.equal('FENCED');
      expect(await store.checkpoint(writer.log)).to.equal(null);
      expect(await writer.seqs()).to.deep.equal([1, 2, 3, 4]);
      await cut(next.term)();
      await store.release(refOf(), next.term);
      expect(await store.checkpoint(writer.log)).to.deep.equal(checkpointAt(2, 'm0'));
      expect(await store.head(refOf())).to.include({ first: 3, head: 4 });
    });

    it('says what a session is doing, as its writer stored it last', async () => {
      const running = { status: 'running', runId: 'r', start: 0, queued: 2 } as const;
      expect((await store.head(refOf()))!.activity).to.deep.equal({ status: 'idle', queued: 0 });
      await writer.append(records(1, 2), { activity: running });
      await writer.append(records(3, 3));
      expect((await store.head(refOf()))!.activity).to.deep.equal(running);
      expect((await store.record(refOf()))!.activity).to.deep.equal(running);
      const { records: listed } = await store.list(refOf().scope, { limit: 1 });
      expect(listed[0]!.activity).to.deep.equal(running);
      const next = await TestWriter.acquire(store, refOf(), null);
      expect(next.acquired.head.activity).to.deep.equal(running);
      expect(
        await refusal(() => writer.append(records(4, 4), { activity: { status: 'idle', queued: 0 } })),
      ).to.equal('FENCED');
      expect((await store.head(refOf()))!.activity).to.deep.equal(running);
      const left = (await store.unfinished()).map(({ from: _, ...ref }) => ref);
      expect(left, 'it was doing something').to.deep.equal([refOf()]);
      await next.append(records(4, 4), { activity: { status: 'idle', queued: 0 } });
      expect((await store.head(refOf()))!.activity).to.deep.equal({ status: 'idle', queued: 0 });
      expect(await store.unfinished()).to.deep.equal([]);
    });

    it('does not name what is parked as unfinished, until something happens in it', async () => {
      const writer = await TestWriter.acquire(store, refOf());
      const waiting = { status: 'waiting', runId: 'run_1', queued: 0 } as const;
      await writer.append([record(1, 'message_accepted')], {
        ...{ opens: { runId: 'run_1', request: '{}' }, activity: waiting },
      });
      await writer.append([], { activity: { ...waiting, parked: true } });
      await store.release(writer.log, writer.term);
      expect(await store.unfinished()).to.deep.equal([]);
      expect((await store.record(refOf()))?.activity).to.deep.equal({ ...waiting, parked: true });
      const next = await TestWriter.acquire(store, refOf(), null);
      expect(next.acquired.openRuns.map(({ runId }) => runId)).to.deep.equal(['run_1']);
      await next.append([], { activity: waiting });
      await store.release(next.log, next.term);
      expect((await store.unfinished()).map(({ name }) => name)).to.deep.equal([refOf().name]);
    });

    it('keeps terms, checkpoint and messages of a log that was closed and begun anew', async () => {
      await writer.append(records(1, 3));
      await store.cut(writer.log, checkpointAt(2, 'm0'), [message('m0')], writer.term);
      await writer.append([record(4, 'session_closed')], { close: true });
      const anew = await TestWriter.acquire(store, refOf());
      expect(await store.checkpoint(anew.log)).to.equal(null);
      expect(await store.messages(anew.log, { tip: 'm0', limit: 9 })).to.deep.equal([]);
      expect(await store.checkpoint(writer.log)).to.deep.equal(checkpointAt(2, 'm0'));
      expect((await store.messages(writer.log, { tip: 'm0', limit: 9 })).map(({ id }) => id)).to.deep.equal([
        'm0',
      ]);
      expect(await writer.seqs(2)).to.deep.equal([3, 4]);
      const head = await store.head(refOf(), writer.log.epoch);
      expect(head).to.include({ first: 3, head: 4, closed: true, term: writer.term });
    });

    it('wakes those who watch a session after its appends, until they stop', async () => {
      const woken: string[] = [];
      const stopA = store.watch(refOf(), () => woken.push('a'));
      const stopB = store.watch(refOf(), () => woken.push('b'));
      const stopOther = store.watch(refOf('other'), () => woken.push('other'));
      await writer.append(records(1, 1));
      await until(() => woken.includes('a') && woken.includes('b'));
      // A shared store wakes every watch once it can hear others.
      if (!store.shared) expect(woken).to.not.include('other');
      stopA();
      stopA();
      woken.length = 0;
      await writer.append(records(2, 2));
      await until(() => woken.includes('b'));
      expect(woken).to.not.include('a');
      stopB();
      stopOther();
      woken.length = 0;
      await writer.append(records(3, 3));
      const last = new Promise<void>((resolve) =>
        closeLater(
          store.watch(refOf(), () => resolve()),
          (stop) => stop(),
        ),
      );
      await writer.append(records(4, 4));
      await last;
      expect(woken).to.deep.equal([]);
    });

    it('watches a session before it has begun and across its epochs', async () => {
      let wakes = 0;
      const stop = store.watch(refOf('later'), () => {
        wakes += 1;
      });
      const first = await TestWriter.acquire(store, refOf('later'));
      await first.append([record(1, 'session_closed')], { close: true });
      await until(() => wakes > 0);
      const seen = wakes;
      const second = await TestWriter.acquire(store, refOf('later'));
      await second.append(records(1, 1));
      await until(() => wakes > seen);
      stop();
    });
  });
}
