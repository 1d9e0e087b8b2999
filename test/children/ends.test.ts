import { expect } from 'chai';
import { defineApp, type Turn } from '../../server/index.js';
import { FAST, post, startGateway } from '../support/gateway.js';
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
});
