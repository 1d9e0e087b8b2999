import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { embedGateway } from '../support/embedded.js';

const confirmed = tool({ schema: undefined as never, confirm: true, handler: () => 'done' });
const browser = tool({ runsOn: 'client' } as never);

type Asked = { readonly callId: string; readonly batch?: string };

/** Begins a run, answers its questions until it ends, and returns all its events. */
async function played(run: Parameters<typeof defineApp>[0]['run'], options = {}): Promise<GatewayEvent[]> {
  const app = defineApp({ tools: { confirmed, browser }, resumable: true, run } as never);
  const session = embedGateway({ app }).session('main');
  const events: GatewayEvent[] = [];
  for await (const event of session.send('x', options)) {
    events.push(event);
    if (event.type === 'tool_confirmation_required') await session.respond(event.callId, { approved: true });
    if (event.type === 'input_required') await session.respond(event.callId, { output: 1 });
  }
  return events;
}

const batches = (events: readonly GatewayEvent[]): (string | undefined)[] =>
  events
    .filter(({ type }) => type === 'tool_confirmation_required' || type === 'input_required')
    .map((event) => (event as Asked).batch);

describe('questions', () => {
  it('that a run puts together are one batch, and one that it puts later is another', async () => {
    const events = await played(async function* (turn: any) {
      await Promise.all([
        turn.callTool('confirmed', {}),
        turn.callTool('browser', {}),
        turn.ask({ name: 'which' }),
      ]);
      await turn.callTool('confirmed', {});
      yield 'done';
    } as never);
    const [first, second, third, last] = batches(events);
    expect(first).to.be.a('string');
    expect([second, third]).to.deep.equal([first, first]);
    expect(last).to.be.a('string').that.does.not.equal(first);
  });

  it('are of different batches where something else was committed between them', async () => {
    const events = await played(async function* (turn: any) {
      const one = turn.callTool('confirmed', {});
      await turn.step('between', () => 1);
      await Promise.all([one, turn.callTool('confirmed', {})]);
      yield 'done';
    } as never);
    const [first, second] = batches(events);
    expect(first).to.not.equal(second);
  });
});

describe('a call', () => {
  it("says that the user's client answers it, be it the app's tool or the sender's, also in the answer", async () => {
    const mine = { name: 'mine', parameters: { type: 'object' } };
    const events = await played(
      async function* (turn: any) {
        await turn.callTool('confirmed', {});
        await turn.callTool('browser', {});
        await turn.callTool('mine', {});
        yield 'done';
      } as never,
      { clientTools: [mine] },
    );
    const marks = (calls: readonly any[]): unknown[] =>
      calls.filter(({ type }) => type === 'tool_use').map(({ name, runsOn }) => [name, runsOn]);
    const expected = [
      ['confirmed', undefined],
      ['browser', 'client'],
      ['mine', 'client'],
    ];
    expect(marks(events)).to.deep.equal(expected);
    const end = events.at(-1) as Extract<GatewayEvent, { type: 'message_end' }>;
    expect(marks(end.message.content)).to.deep.equal(expected);
  });
});
