import { expect } from 'chai';
import { z } from 'zod';
import { defineApp, method, tool } from '../../server/index.js';
import {
  eventsOf,
  nextEvent,
  pendingOf,
  scripted,
  testGateways,
  textOf,
  toolCallsOf,
} from '../../testing/index.js';
import { gate } from '../support/gate.js';

const start = testGateways(afterEach);

const removing = () => {
  const removed: string[] = [];
  const remove = tool({
    schema: z.object({ file: z.string() }),
    confirm: true,
    handler: ({ file }) => {
      removed.push(file);
      return `${file} is gone`;
    },
  });
  const app = scripted(['Shall I? ', { tool: 'remove', input: { file: 'a.txt' } }, 'Done.'], {
    tools: { remove },
    resumable: true,
  });
  return { app, removed };
};

describe('the testing kit', () => {
  it('has the client of a gateway, with its types', async () => {
    const methods = { add: method({ schema: z.object({ a: z.number() }), handler: async ({ a }) => a + 1 }) };
    const app = defineApp({
      async *run(turn) {
        yield turn.text;
      },
    });
    const gateway = await start({ app, methods });
    const client = gateway.client();
    const sum: number = await client.invoke('add', { a: 1 });
    expect(sum).to.equal(2);
    // @ts-expect-error: there is no such method
    await client.invoke('sub').catch(() => {});
    expect(textOf((await client.send('main', 'hello').result).message)).to.equal('hello');
  });

  for (const transport of ['in-process', 'sse', 'websocket'] as const) {
    it(`asks, is cut and restarted, and goes on: ${transport}`, async () => {
      const { app, removed } = removing();
      const gateway = await start({ app });
      const client = gateway.client({ transport });
      const cut = client.cutAt('tool_confirmation_required');
      const run = client.send('main', 'remove it');
      await cut;
      await gateway.restart();
      await client.session('main').approve(await pendingOf(client, 'main', 'remove'));
      const { message, stopReason } = await run.result;
      expect(stopReason).to.equal('end');
      expect(textOf(message)).to.equal('Shall I? Done.');
      expect(toolCallsOf(message)).to.deep.equal([
        { name: 'remove', input: { file: 'a.txt' }, output: 'a.txt is gone', isError: false },
      ]);
      expect(removed).to.deep.equal(['a.txt']);
      const events = await eventsOf(client, 'main');
      expect(events.filter(({ type }) => type === 'message_end')).to.have.length(1);
    });
  }

  it('kills a gateway: what it does from then on is not stored, and its clients meet the next one', async () => {
    const held = gate();
    let calls = 0;
    const app = defineApp({
      resumable: true,
      async *run(turn) {
        calls += 1;
        if (calls === 1) {
          yield 'one ';
          await held.passed;
          yield 'never';
        } else yield `resumed behind ${JSON.stringify(textOf(turn.resumed!))}`;
      },
    });
    const gateway = await start({ app });
    const client = gateway.client({ transport: 'sse' });
    const run = client.send('main', 'hello');
    await nextEvent(run[Symbol.asyncIterator](), 'content_delta');
    await gateway.kill();
    held.open();
    expect(textOf((await run.result).message)).to.equal('one resumed behind "one "');
    expect(calls).to.equal(2);
  });

  it('ends a run as lost where a kill took one that does not go on', async () => {
    const gateway = await start({ app: scripted(['half ', { until: new Promise(() => {}) }]) });
    const run = gateway.client().send('main', 'hello');
    await nextEvent(run[Symbol.asyncIterator](), 'content_delta');
    await gateway.kill();
    const { stopReason, message } = await run.result;
    expect([stopReason, textOf(message)]).to.deep.equal(['lost', 'half ']);
  });

  it('keeps what is sent without a line, and sends it once there is one', async () => {
    const gateway = await start({ app: scripted(['heard']) });
    const client = gateway.client({ transport: 'sse' });
    client.goOffline();
    const run = client.send('main', 'hello');
    expect(
      await client
        .session('main')
        .update({})
        .catch(({ code }: { code: string }) => code),
    ).to.equal('NETWORK');
    client.goOnline();
    expect(textOf((await run.result).message)).to.equal('heard');
  });

  it('has time stand still until it is turned', async () => {
    const gateway = await start({
      app: scripted([{ waitMs: 3_600_000 }, 'an hour later']),
      clock: true,
      limits: { runMs: 7_200_000 },
    });
    const began = Date.now();
    const run = gateway.client().send('main', 'wake me');
    await nextEvent(run[Symbol.asyncIterator](), 'message_start');
    await gateway.clock.advance(3_600_000);
    expect(textOf((await run.result).message)).to.equal('an hour later');
    expect(Date.now() - began).to.equal(3_600_000);
  });

  it('has limits end runs by the clock', async () => {
    const gateway = await start({
      app: scripted(['thinking', { waitMs: 3_600_000 }]),
      clock: true,
      limits: { runMs: 60_000 },
    });
    const run = gateway.client().send('main', 'hello');
    await nextEvent(run[Symbol.asyncIterator](), 'content_delta');
    await gateway.clock.advance(60_000);
    const { stopReason } = await run.result;
    expect(stopReason).to.equal('timeout');
  });

  it('plays scripts: an answer for each message, failures, reasoning, data, questions', async () => {
    const app = scripted([
      [{ reasoning: 'hm' }, 'first', { data: 'card', value: { n: 1 } }, { usage: { inputTokens: 3 } }],
      [{ ask: 'day' }, 'asked'],
      [{ fail: 'the model is down' }],
    ]);
    const gateway = await start({ app });
    const client = gateway.client({ user: 'ada' });
    const first = await client.send('main', '1').result;
    expect(first.message.content.map(({ type }) => type)).to.deep.equal(['reasoning', 'text', 'data']);
    expect(first.usage).to.deep.equal({ inputTokens: 3 });
    const second = client.send('main', '2');
    await client.session('main').respond(await pendingOf(client, 'main', 'day'), { output: 'Monday' });
    expect(textOf((await second.result).message)).to.equal('asked');
    for (const text of ['3', '4'])
      expect((await client.send('main', text).result).stopReason).to.equal('error');
    expect(gateway.log.some(({ details }) => /the model is down/.test(String(details.err)))).to.equal(true);
  });
});
