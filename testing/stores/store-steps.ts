import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { LeftRun, StepRecord } from '../../server/stores/index.js';
import {
  type MakeStore,
  opened,
  record,
  records,
  refOf,
  refusal,
  resultOf,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const opens = (runId: string) => ({ opens: { runId, request: '{}' } });
const step = (number: number, outcome?: string, runId = 'run_1'): StepRecord => ({
  ...{ runId, number, name: `step ${number}` },
  ...(outcome !== undefined && { outcome }),
});

/** Tests steps of runs: which are kept, for whom, and until when. */
export function describeSteps(makeStore: MakeStore): void {
  describe('steps', () => {
    let made: StoreUnderTest;
    let store: Store;
    let writer: TestWriter;

    const left = async (): Promise<readonly LeftRun[]> =>
      (await TestWriter.acquire(store, refOf(), null)).acquired.openRuns;
    const stepsOf = async (runId = 'run_1'): Promise<unknown> =>
      (await left()).find((run) => run.runId === runId)?.steps;

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      writer = await TestWriter.acquire(store, refOf());
      await writer.append([record(1, 'message_accepted')], opens('run_1'));
    });

    it('gives them to the next writer, by their numbers, and none where there are none', async () => {
      await writer.append([record(2, 'message_accepted')], opens('run_2'));
      await writer.append([], { steps: [step(10), step(2, '{"value":"ä😀"}')] });
      await writer.append([], { steps: [step(1, '{}'), step(-2, '{"value":1}')] });
      const runs = await left();
      expect(runs.map(({ runId, steps }) => [runId, steps])).to.deep.equal([
        ['run_1', [step(-2, '{"value":1}'), step(1, '{}'), step(2, '{"value":"ä😀"}'), step(10)]],
        ['run_2', undefined],
      ]);
      expect(runs[1]).to.not.have.property('steps');
      expect(await store.openRuns(refOf()), 'also to a reader').to.deep.equal(runs);
      expect(await store.openRuns(refOf('none'))).to.deep.equal([]);
      expect(await store.run(refOf(), { runId: 'run_1' })).to.not.have.property('steps');
    });

    it('takes them without events, which have their places as if there were none', async () => {
      expect(await writer.append([], { steps: [step(1)] })).to.include({ first: 2, last: 1 });
      expect(await writer.append(records(2, 3), { steps: [step(2)] })).to.include({ first: 2, last: 3 });
      expect(await writer.seqs()).to.deep.equal([1, 2, 3]);
      expect((await store.head(refOf()))?.head).to.equal(3);
      expect(await stepsOf()).to.deep.equal([step(1), step(2)]);
    });

    it('replaces one of the same number', async () => {
      await writer.append([], { steps: [step(1), step(2)] });
      await writer.append([], { steps: [step(1, '{"value":1}')] });
      expect(await stepsOf()).to.deep.equal([step(1, '{"value":1}'), step(2)]);
    });

    it('answers a batch that comes again and does not write it again', async () => {
      await writer.append([], { steps: [step(1)] });
      writer.batch -= 1;
      expect(await writer.append([], { steps: [step(1, '"other"')] })).to.include({ first: 2, last: 1 });
      expect(await stepsOf()).to.deep.equal([step(1)]);
    });

    it('refuses those of a former writer', async () => {
      await writer.append([], { steps: [step(1)] });
      const next = await TestWriter.acquire(store, refOf(), null);
      expect(await refusal(() => writer.append([], { steps: [step(1, '{}')] }))).to.equal('FENCED');
      expect(await refusal(() => writer.append([], { steps: [step(2)] }))).to.equal('FENCED');
      await next.append([], { steps: [step(2)] });
      expect(await stepsOf()).to.deep.equal([step(1), step(2)]);
    });

    it('keeps nothing of a batch that is refused or a duplicate', async () => {
      await writer.append([record(2, 'message_accepted')], {
        opens: { runId: 'run_2', key: 'k', hash: 'h', request: '{}' },
      });
      const again = await writer.append([record(3, 'message_accepted')], {
        opens: { runId: 'run_3', key: 'k', hash: 'h', request: '{}' },
        steps: [step(1)],
      });
      expect(again.duplicate?.runId).to.equal('run_2');
      writer.batch += 1;
      expect(await refusal(() => writer.append([], { steps: [step(2)] }))).to.equal('ROLLED_BACK');
      expect(await stepsOf()).to.equal(undefined);
    });

    it('drops them when their run ends, also with the batch that has one, and keeps none afterwards', async () => {
      await writer.append([record(2, 'message_accepted')], opens('run_2'));
      await writer.append([], { steps: [step(1, '{}'), step(1, '{}', 'run_2')] });
      await writer.append([record(3, 'message_end')], {
        steps: [step(2, '{}')],
        ends: [{ runId: 'run_1', result: resultOf('run_1') }],
      });
      await writer.append([], { steps: [step(3), step(1, '{}', 'run_9')] });
      const runs = await left();
      expect(runs.map(({ runId, steps }) => [runId, steps])).to.deep.equal([
        ['run_2', [step(1, '{}', 'run_2')]],
      ]);
    });

    it('drops them when their session closes', async () => {
      await writer.append([], { steps: [step(1, '{}')] });
      await writer.append([record(2, 'session_closed')], { close: true });
      const anew = await TestWriter.acquire(store, refOf());
      await anew.append([record(1, 'message_accepted')], opens('run_5'));
      expect(await stepsOf('run_5')).to.equal(undefined);
    });

    it('keeps runs of the same id apart by their sessions', async () => {
      const other = await TestWriter.acquire(store, refOf('other'));
      await other.append([record(1, 'message_accepted')], opens('run_1'));
      await other.append([], { steps: [step(1)] });
      writer = await TestWriter.acquire(store, refOf(), null);
      expect(writer.acquired.openRuns[0]).to.not.have.property('steps');
      await writer.append([record(2, 'message_end')], {
        ends: [{ runId: 'run_1', result: resultOf('run_1') }],
      });
      const { openRuns } = (await TestWriter.acquire(store, refOf('other'), null)).acquired;
      expect(openRuns[0]?.steps).to.deep.equal([step(1)]);
    });

    it('keeps them through a cut and, where anything is, when it is opened again', async () => {
      await writer.append(records(2, 4), { steps: [step(1, '{"value":[1]}'), step(2)] });
      await store.cut(writer.log, { seq: 3, state: { cursor: null } as never }, [], writer.term);
      if (made.reopen) store = await made.reopen();
      expect(await stepsOf()).to.deep.equal([step(1, '{"value":[1]}'), step(2)]);
    });

    it('keeps results of a megabyte', async () => {
      const large = JSON.stringify({ value: 'ä'.repeat(1 << 20) });
      await writer.append([], { steps: [step(1, large)] });
      expect(await stepsOf()).to.deep.equal([step(1, large)]);
    });
  });
}
