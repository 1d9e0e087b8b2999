import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import { type MakeStore, opened, record, records, refOf, resultOf, TestWriter } from './records.js';
import { beforeEach, describe, it } from './runner.js';

const sent = { runId: 'run_1', key: 'k', hash: 'h' };
const opens = { ...sent, request: '{}' };

/** Runs, their keys, their outcomes and expiry. */
export function describeRuns(makeStore: MakeStore): void {
  describe('runs', () => {
    let store: Store;
    let writer: TestWriter;

    beforeEach(async () => {
      ({ store } = await opened(makeStore));
      writer = await TestWriter.acquire(store, refOf());
    });

    it('keeps a key with the event it was written with', async () => {
      await writer.append(records(1, 2));
      await writer.append([record(3, 'message_accepted')], { opens });
      expect(await store.run(refOf(), { key: 'k' })).to.include({
        ...sent,
        epoch: writer.log.epoch,
        accepted: 3,
      });
      expect(await store.run(refOf(), { key: 'K' })).to.equal(null);
      expect((await store.run(refOf(), { key: 'k' }))?.result).to.equal(undefined);
    });

    it('answers a known key inside append: nothing is written, its batch number is free again', async () => {
      await writer.append([record(1, 'message_accepted')], { opens });
      const { batch } = writer;
      const again = await writer.append(records(2, 3), {
        opens: { runId: 'run_2', key: 'k', hash: 'other', request: '{}' },
      });
      expect(again).to.include({ epoch: writer.log.epoch, first: 2, last: 1 });
      expect(again.duplicate).to.include({ ...sent, accepted: 1 });
      expect(await writer.seqs()).to.deep.equal([1]);
      expect(await store.run(refOf(), { key: 'k' })).to.include(sent);
      writer.batch = batch;
      expect(await writer.append(records(2, 2))).to.include({ first: 2, last: 2 });
    });

    it('does not close with a batch that was a duplicate', async () => {
      await writer.append([record(1)], { opens });
      const again = await writer.append(records(2, 2), { opens, close: true });
      expect(again.duplicate).to.include(sent);
      expect((await store.head(refOf()))?.closed).to.equal(false);
    });

    it('settles a key with the outcome of its run and the place of its end', async () => {
      await writer.append([record(1, 'message_accepted')], { opens });
      await writer.append([record(2, 'run_error'), record(3, 'message_end')], {
        ends: [{ runId: 'run_1', result: resultOf('run_1') }],
      });
      const cursor = `${writer.log.epoch}.${writer.term}.3`;
      const kept = await store.run(refOf(), { key: 'k' });
      expect(kept).to.include({ ...sent, accepted: 1 });
      expect(kept?.result).to.deep.equal({ ...resultOf('run_1'), cursor });
    });

    it('ends several runs in one batch, each with its place, and keeps a key with the place of its message', async () => {
      await writer.append([record(1, 'message_accepted')], { opens });
      const end = (seq: number, runId: string) => ({ ...record(seq, 'message_end'), runId });
      await writer.append([end(2, 'run_1'), end(3, 'run_2'), record(4, 'message_accepted')], {
        opens: { runId: 'run_3', key: 'k2', hash: 'h2', request: '{}' },
        ends: [
          { runId: 'run_1', result: resultOf('run_1') },
          { runId: 'run_2', result: resultOf('run_2') },
        ],
      });
      expect((await store.run(refOf(), { key: 'k2' }))?.accepted).to.equal(4);
      expect((await store.run(refOf(), { key: 'k' }))?.result?.cursor).to.equal(
        `${writer.log.epoch}.${writer.term}.2`,
      );
    });

    it('settles nothing for a key it does not know', async () => {
      await writer.append([record(1, 'message_end')], {
        ends: [{ runId: 'run_9', result: resultOf('run_9') }],
      });
      expect(await store.run(refOf(), { key: 'x' })).to.equal(null);
      expect(await writer.seqs()).to.deep.equal([1]);
    });

    it('knows a key after a cut, after a close, and in the next epoch', async () => {
      await writer.append([record(1, 'message_accepted')], { opens });
      await writer.append([record(2, 'message_end')], {
        ends: [{ runId: 'run_1', result: resultOf('run_1') }],
      });
      await store.cut(writer.log, { seq: 2, state: { cursor: null } as never }, [], writer.term);
      expect((await store.run(refOf(), { key: 'k' }))?.result?.runId).to.equal('run_1');
      await writer.append([record(3, 'session_closed')], { close: true });
      expect((await store.run(refOf(), { key: 'k' }))?.epoch).to.equal(writer.log.epoch);
      const anew = await TestWriter.acquire(store, refOf());
      expect(await store.run(refOf(), { key: 'k' })).to.include({
        ...sent,
        epoch: writer.log.epoch,
        accepted: 1,
      });
      const again = await anew.append(records(1, 1), { opens });
      expect(again.duplicate).to.include({ ...sent, epoch: writer.log.epoch });
      expect(await anew.seqs()).to.deep.equal([]);
    });

    it('lets exactly one of many sends of a key write', async () => {
      const answers = [];
      for (let i = 0; i < 5; i++) {
        const answer = await writer.append([record(i)], { opens: { ...opens, runId: `run_${i}` } });
        if (answer.duplicate) writer.batch -= 1;
        answers.push(answer);
      }
      expect(answers.filter((answer) => !answer.duplicate)).to.have.length(1);
      expect(answers.slice(1).map((answer) => answer.duplicate?.runId)).to.deep.equal(Array(4).fill('run_0'));
    });

    it('expires runs by the age of their end, and nothing else of them', async () => {
      await writer.append([record(1)], { opens });
      await store.expire(Date.now() + 1);
      expect(await store.run(refOf(), { key: 'k' }), 'it has not ended').to.include(sent);
      await writer.append(records(2, 2), { ends: [{ runId: 'run_1', result: resultOf('run_1') }] });
      await store.expire(Date.now() - 60_000);
      expect(await store.run(refOf(), { key: 'k' })).to.include(sent);
      await store.expire(Date.now() + 1);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      expect(await store.run(refOf(), { runId: 'run_1' })).to.equal(null);
      expect(await writer.seqs()).to.deep.equal([1, 2]);
      expect(await writer.append(records(3, 3), { opens })).to.include({ first: 3 });
    });

    it('finds a run of a session by its id, with or without a key', async () => {
      await writer.append([record(1, 'message_accepted')], { opens: { runId: 'run_7', request: '{"n":7}' } });
      const open = { runId: 'run_7', epoch: writer.log.epoch, accepted: 1, request: '{"n":7}' };
      expect(await store.run(refOf(), { runId: 'run_7' })).to.deep.equal(open);
      expect(await store.run(refOf('other'), { runId: 'run_7' })).to.equal(null);
      expect(await store.run(refOf(), { runId: 'run_8' })).to.equal(null);
      await writer.append([record(2, 'message_end')], {
        ends: [{ runId: 'run_7', result: resultOf('run_7') }],
      });
      const { request: _, ...ended } = open;
      const result = { ...resultOf('run_7'), cursor: `${writer.log.epoch}.${writer.term}.2` };
      expect(await store.run(refOf(), { runId: 'run_7' })).to.deep.equal({ ...ended, result });
    });

    it('ends a run once', async () => {
      await writer.append([record(1, 'message_accepted')], { opens });
      const end = (stopReason: 'end' | 'lost') => ({
        ends: [{ runId: 'run_1', result: { ...resultOf('run_1'), stopReason } }],
      });
      await writer.append([record(2, 'message_end')], end('end'));
      await writer.append([record(3, 'message_end')], end('lost'));
      expect((await store.run(refOf(), { runId: 'run_1' }))?.result?.stopReason).to.equal('end');
    });

    it('leaves no run open where it closes', async () => {
      await writer.append([record(1, 'message_accepted')], { opens });
      await writer.append([record(2, 'session_closed')], { close: true });
      expect(await store.run(refOf(), { key: 'k' })).to.have.all.keys(
        'runId',
        'key',
        'hash',
        'epoch',
        'accepted',
      );
      const anew = await TestWriter.acquire(store, refOf());
      expect(anew.acquired.openRuns).to.deep.equal([]);
      await store.expire(Date.now() + 1);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
    });

    it('expires closed logs by age, also the last one of a session, and never an open one', async () => {
      await writer.append(records(1, 2), { opens });
      await writer.append([record(3, 'session_closed')], { close: true });
      const second = await TestWriter.acquire(store, refOf());
      await second.append([record(1, 'session_closed')], { close: true });
      const other = await TestWriter.acquire(store, refOf('open'));
      await other.append(records(1, 1));
      await store.expire(Date.now() - 60_000);
      expect(await writer.seqs()).to.deep.equal([1, 2, 3]);
      await store.expire(Date.now() + 1);
      for (const { log } of [writer, second]) {
        expect(await store.head(refOf(), log.epoch)).to.equal(null);
        expect(await store.read(log, 0, 9, 1000)).to.deep.equal([]);
      }
      expect(await other.seqs()).to.deep.equal([1]);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      const third = await TestWriter.acquire(store, refOf());
      expect(third.acquired.head).to.include({ first: 1, head: 0 });
      expect(third.term, 'terms are never used again').to.be.greaterThan(second.term);
    });

    it('forgets a session whose last log has expired', async () => {
      await writer.append([record(1, 'session_closed')], { close: true, opens });
      await store.expire(Date.now() + 1);
      expect(await store.record(refOf())).to.equal(null);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      expect(await store.count('alice')).to.equal(0);
    });

    it('removes a closed session at once and for good, and no other', async () => {
      const other = await TestWriter.acquire(store, refOf('other'));
      await other.append([record(1)]);
      await writer.append([record(1)], { opens });
      await store.remove(refOf());
      expect(await store.record(refOf()), 'it is open').to.include({ closed: false });
      await writer.append([record(2, 'session_closed')], { close: true });
      const second = await TestWriter.acquire(store, refOf());
      await second.append([record(1, 'session_closed')], { close: true });
      await store.remove(refOf());
      await store.remove(refOf('never'));
      expect(await store.record(refOf())).to.equal(null);
      expect(await store.run(refOf(), { key: 'k' })).to.equal(null);
      expect(await store.read(writer.log, 0, 10, 1000)).to.deep.equal([]);
      expect(await store.head(refOf(), writer.log.epoch)).to.equal(null);
      const third = await TestWriter.acquire(store, refOf());
      expect(third.acquired.head).to.include({ first: 1, head: 0 });
      expect(third.term, 'terms are never used again').to.be.greaterThan(second.term);
      expect((await store.read(other.log, 0, 10, 1000)).length).to.equal(1);
    });
  });
}
