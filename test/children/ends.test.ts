import { expect } from 'chai';
import { defineApp, type Turn } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { gate } from '../support/gate.js';
import { FAST, post, startGateway } from '../support/gateway.js';
import { heldStore } from '../support/held-store.js';
import { eventsUntil, foldOf, sendTo } from './tree.js';

/** Everything that ends a run from outside, with the reason that its children end for. */
const ENDS: Readonly<
  Record<
    string,
    { readonly child: string; readonly parent: string; readonly limits?: object; end(url: string): unknown }
  >
> = {
  'an abort': {
    ...{ child: 'aborted', parent: 'aborted' },
    end: (url) => post(`${url}/abort`, { sessionId: 'main' }),
  },
  'a message that interrupts': {
    ...{ child: 'superseded', parent: 'superseded' },
    end: (url) => sendTo(url, 'next', { onBusy: 'interrupt' }),
  },
  'an edit': {
    ...{ child: 'superseded', parent: 'superseded' },
    end: (url) => sendTo(url, 'next', { parent: null }),
  },
  'a person who takes over': {
    ...{ child: 'taken_over', parent: 'taken_over' },
    end: (url) => post(`${url}/take-over`, { sessionId: 'main' }),
  },
  'a close': {
    ...{ child: 'aborted', parent: 'aborted' },
    end: (url) => post(`${url}/close`, { sessionId: 'main' }),
  },
  'its time': { child: 'timeout', parent: 'timeout', limits: { runMs: 300 }, end: () => {} },
};

const app = defineApp({
  async *run(turn: Turn) {
    if (turn.text === 'next') return;
    yield 'I ';
    await turn.spawn('middle', {
      ...{ message: 'x', id: 'middle' },
      async *run(middle) {
        yield 'you ';
        await middle.spawn('leaf', {
          ...{ message: 'x', id: 'leaf' },
          async *run() {
            yield 'they ';
            await new Promise(() => {});
          },
        }).result;
      },
    }).result;
  },
});

describe('children of a run', () => {
  for (const [what, { child, parent, limits, end }] of Object.entries(ENDS))
    it(`end before it in one append by ${what}, with what they said`, async () => {
      const { url } = await startGateway({ app, limits: { ...FAST, ...limits } });
      const runId = await sendTo(url, 'go');
      const before = await eventsUntil(url, ({ data }) => data.delta === 'they ');
      const names = new Map(foldOf(before).lanes!.map((lane) => [lane.runId, lane.name!]));
      const reading = eventsUntil(url, ({ event, data }) => event === 'message_end' && data.runId === runId);
      await end(url);
      const events = await reading;
      const ends = events.filter(({ type }) => type === 'message_end').slice(0, 3);
      const shape = ends.map((each) => [
        names.get(each.runId!) ?? 'main',
        (each as { stopReason?: string }).stopReason,
        JSON.stringify((each as { message?: unknown }).message).includes('they ') || undefined,
      ]);
      expect(shape).to.deep.equal([
        ['leaf', child, true],
        ['middle', child, undefined],
        ['main', parent, undefined],
      ]);
      const seqs = ends.map(({ cursor }) => Number(cursor.split('.')[2]));
      // A run that failed says why just before its end.
      expect(seqs[1]).to.equal(seqs[0]! + 1);
      expect(seqs[2]! - seqs[1]!).to.be.at.most(2);
      const after = foldOf(events);
      expect(after.lanes).to.equal(undefined);
      expect(after.pending).to.deep.equal([]);
    });

  for (const [what, { limits, end }] of Object.entries(ENDS).filter(([, { limits }]) => !limits))
    it(`are told of ${what} that meets their beginning on its way, and write nothing behind it`, async () => {
      const { store, hold, release, batches } = heldStore(memoryStore());
      const [goes, told] = [gate(), gate()];
      let began = false;
      const parent = defineApp({
        async run(turn) {
          if (turn.text === 'next') return;
          await goes.passed;
          await turn.spawn('worker', {
            ...{ message: 'x', id: 'worker' },
            async *run({ signal }) {
              began = true;
              signal.addEventListener('abort', () => told.open());
              await told.passed;
              yield 'too late';
            },
          }).result;
        },
      });
      const { url } = await startGateway({ app: parent, store, limits: { ...FAST, ...limits } });
      const runId = await sendTo(url, 'go');
      const reading = eventsUntil(url, ({ event, data }) => event === 'message_end' && data.runId === runId);
      const spawning = hold();
      goes.open();
      await spawning;
      const ending = Promise.resolve(end(url));
      // The end is asked for before the beginning is stored, as the order of the batches shows below.
      for (let waits = 0; waits < 10; waits++) await post(`${url}/status`, {});
      release();
      await ending;
      await sendTo(url, 'next');
      const events = await reading;
      // A child that begins all the same is stopped.
      if (began) await told.passed;
      const child = events.find(({ type }) => type === 'run_spawned')!.runId;
      expect(events.filter(({ type, runId }) => runId === child && type === 'message_end')).to.have.length(1);
      expect(batches.flat().filter((type) => type === 'content_delta')).to.deep.equal([]);
    });

  it('leave a person in control alone: so does a lane whose beginning is on its way', async () => {
    const { store, hold, release, batches } = heldStore(memoryStore());
    const app = defineApp({
      async *run({ text, signal }) {
        if (text !== 'beside') return;
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield 'too late';
      },
    });
    const { url } = await startGateway({ app, store });
    await sendTo(url, 'hello');
    const spawning = hold();
    const beside = sendTo(url, 'beside', { lane: 'new' });
    await spawning;
    const taking = post(`${url}/take-over`, { sessionId: 'main' });
    for (let waits = 0; waits < 10; waits++) await post(`${url}/status`, {});
    release();
    expect((await taking).status).to.equal(200);
    await beside;
    expect(batches.slice(-2)).to.deep.equal([['run_spawned'], ['message_end', 'control_moved']]);
  });
});
