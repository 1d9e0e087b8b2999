import { expect } from 'chai';
import { defineApp, GatewayError, type Turn, tool, toolResult } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';

/** The last event of a session's first run, and all before it. */
async function whole(url: string): Promise<GatewayEvent[]> {
  const seen: GatewayEvent[] = [];
  for await (const event of connectClient(url).events('main', { from: 'earliest' })) {
    seen.push(event);
    if (event.type === 'message_end') return seen;
  }
  throw new Error('the events ended');
}

const contentOf = (events: readonly GatewayEvent[]) => {
  const end = events.at(-1);
  return end?.type === 'message_end' ? end.message.content : [];
};

/** Runs an app until it waits, and lets another process go on with it. */
async function interrupted(run: (turn: Turn, wait: () => Promise<void>) => AsyncIterable<any>) {
  const waits = gate<void>();
  const path = newDatabase();
  const appOf = (wait: () => Promise<void>) =>
    defineApp({ resumable: true, run: (turn) => run(turn as Turn, wait) });
  const first = await startDurable(path, {
    app: appOf(() => {
      waits.open();
      return new Promise(() => {});
    }),
  });
  connectClient(first.url).send('main', 'go');
  await waits.passed;
  // What was said is in the file once a reader has it.
  const seen = connectClient(first.url).events('main', { from: 'earliest' });
  for await (const event of seen) if (event.type === 'custom') break;
  const second = await startDurable(crashed(path), { app: appOf(async () => {}) });
  return whole(second.url);
}

describe('what an app says again in a run that was taken up', () => {
  it('is said once, though the app begins from the beginning and asks for nothing', async () => {
    const events = await interrupted(async function* (turn, wait) {
      yield { type: 'reasoning_delta', delta: 'Hm. ' };
      yield 'I need ';
      yield 'a moment. ';
      turn.data('card', { n: 1 });
      turn.data('progress', 1, { id: 'p' });
      turn.data('progress', 2, { id: 'p' });
      yield { type: 'tool_use', callId: 'c', name: 'look', input: {} };
      yield { type: 'tool_result', callId: 'c', name: 'look', output: 1, isError: false };
      yield 'So';
      turn.emit('said', {});
      await wait();
      yield ' it is.';
    });
    expect(contentOf(events).map(({ type }) => type)).to.deep.equal([
      'reasoning',
      'text',
      'data',
      'data',
      'tool_use',
      'tool_result',
      'text',
      'text',
    ]);
    const text = contentOf(events).flatMap((block) => (block.type === 'text' ? [block.text] : []));
    expect(text).to.deep.equal(['I need a moment. ', 'So', ' it is.']);
    expect(contentOf(events).find((block) => block.type === 'data' && block.id === 'p')).to.include({
      value: 2,
    });
  });

  it('is said whole where the app says something else the second time', async () => {
    let times = 0;
    const events = await interrupted(async function* (turn, wait) {
      times += 1;
      yield times === 1 ? 'It is su' : 'It is raining';
      turn.emit('said', {});
      await wait();
      yield '.';
    });
    const text = contentOf(events).flatMap((block) => (block.type === 'text' ? [block.text] : []));
    expect(text).to.deep.equal(['It is su', 'It is raining.']);
  });
});

describe('what an app calls and asks again in a run that was taken up', () => {
  it('has the results and answers that it had: no tool is called twice, and nobody is asked twice', async () => {
    const called: unknown[] = [];
    const waits = gate<void>();
    const appOf = (wait: () => Promise<void>) =>
      defineApp({
        resumable: true,
        tools: {
          add: tool({ handler: (input) => called.push(input) }),
          rich: tool({
            handler: () => toolResult({ content: [{ type: 'text', text: 'x' }], structured: { n: 7 } }),
          }),
          pay: tool({ confirm: true, handler: (input) => called.push(input) && 'paid' }),
          fail: tool({
            handler: () => {
              throw new GatewayError({ code: 'NOT_FOUND', message: 'No such thing' });
            },
          }),
        },
        async *run(turn) {
          const told: unknown[] = [];
          const add = () => turn.callTool('add', { same: true });
          told.push(await add(), await turn.step('third', add), await add());
          told.push(await turn.callTool('rich', {}));
          told.push(
            await turn.callTool('fail', {}).catch((error) => [error.name, error.message, error.denied]),
          );
          told.push(await turn.callTool('pay', { much: 1 }));
          told.push(await turn.callTool('pay', { much: 2 }).catch((error) => [error.message, error.denied]));
          told.push(await turn.ask({ name: 'who' }), await turn.confirm({ name: 'sure', input: [1] }));
          turn.emit('said', {});
          await wait();
          told.push(await add());
          yield JSON.stringify(told);
        },
      });
    const path = newDatabase();
    const first = await startDurable(path, {
      app: appOf(() => {
        waits.open();
        return new Promise(() => {});
      }),
    });
    const session = connectClient(first.url).session('main');
    session.send('go');
    for await (const event of session.events({ from: 'earliest' })) {
      if (event.type === 'custom') break;
      if (event.type === 'input_required') await session.respond(event.callId, { output: 'Ada' });
      if (event.type !== 'tool_confirmation_required') continue;
      if (JSON.stringify(event.input).includes('2')) await session.deny(event.callId, 'No');
      else await session.approve(event.callId);
    }
    await waits.passed;
    const second = await startDurable(crashed(path), { app: appOf(async () => {}) });
    const events = await whole(second.url);
    const [text] = contentOf(events).flatMap((block) => (block.type === 'text' ? [block.text] : []));
    expect(JSON.parse(text!)).to.deep.equal([
      ...[1, 2, 3, { n: 7 }],
      ['ToolCallError', 'No such thing', false],
      'paid',
      ['Denied: No', true],
      'Ada',
      { approved: true },
      5,
    ]);
    expect(called).to.have.length(5);
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(['tool_use', 'tool_confirmation_required', 'input_required'].map(count)).to.deep.equal([8, 3, 1]);
  });
});
