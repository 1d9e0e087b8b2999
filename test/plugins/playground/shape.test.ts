import { expect } from 'chai';
import type { Recorded } from '../../../playground/timeline/record.js';
import { shapesOf } from '../../../playground/timeline/shape.js';

const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'hello' }], createdAt: 1 };

/** Events of a run: what happens when, in ms of the gateway's clock; they reach the page 5 ms later, whose clock begins 1,000 ms later. */
const recorded = (...events: readonly (readonly [ts: number, type: string, rest?: object])[]): Recorded[] =>
  events.map(([ts, type, rest], at) => ({
    event: { type, ts, runId: 'r', cursor: `e.1.${at + 1}`, ...rest } as never,
    ...{ at: ts - 1000 + 5, size: 10 },
  }));

const run = recorded(
  [2000, 'message_accepted', { message, onBusy: 'queue', position: 0 }],
  [2100, 'message_start', { messageId: 'a', app: 'default' }],
  [2200, 'content_delta', { delta: 'a', index: 0 }],
  [2300, 'content_delta', { delta: 'b', index: 0 }],
  [2300, 'tool_use', { callId: 'one', name: 'search', input: {} }],
  [2320, 'tool_use', { callId: 'two', name: 'find', input: {} }],
  [2350, 'tool_confirmation_required', { callId: 'two', name: 'find', input: {} }],
  [2550, 'tool_confirmation_result', { callId: 'two', name: 'find', approved: true }],
  [2600, 'tool_result', { callId: 'two', name: 'find', output: 1, isError: false }],
  [2650, 'tool_result', { callId: 'one', name: 'search', output: 1, isError: false }],
  [2800, 'content_delta', { delta: 'c', index: 3 }],
  [3000, 'message_end', { stopReason: 'end', message }],
);

describe('the shape of a run', () => {
  it('has what it waited for, said and called, each as long as it took; what overlaps lies in lanes', () => {
    const [shape] = shapesOf(run, []);
    expect([shape!.asked, shape!.ms, shape!.stopReason]).to.deep.equal(['hello', 1000, 'end']);
    const lanes = shape!.lanes.map((lane) => lane.map(({ name, from, to }) => `${name} ${from}-${to}`));
    expect(lanes).to.deep.equal([
      ['waits 0-100', 'text 100-300', 'you: find 350-550', 'text 800-800'],
      ['search 300-650'],
      ['find 320-600'],
    ]);
    expect(shape!.pieces.map(({ at }) => at)).to.deep.equal([200, 300, 800]);
  });

  it('has the cuts that fell into it, by the gateway’s clock', () => {
    const outages = [
      { at: 0, ms: 100 },
      { at: 1405, ms: 200 },
      { at: 1905, ms: 5000 },
      { at: 9000, ms: 1 },
    ];
    expect(shapesOf(run, outages)[0]!.cuts).to.deep.equal([
      { from: 400, to: 600 },
      { from: 900, to: 1000 },
    ]);
  });

  it('goes on to its last event, with what is still open', () => {
    const [shape] = shapesOf(run.slice(0, 6), []);
    expect([shape!.ms, shape!.stopReason]).to.deep.equal([320, undefined]);
    expect(
      shape!.lanes
        .flat()
        .filter(({ kind }) => kind === 'tool')
        .map(({ to }) => to),
    ).to.deep.equal([320, 320]);
  });

  it('is none for events of no run', () => {
    expect(shapesOf(recorded([1, 'channel', { runId: undefined }]), [])).to.deep.equal([]);
  });
});
