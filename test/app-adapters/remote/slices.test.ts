import { expect } from 'chai';
import { z } from 'zod';
import { type RemoteAppOptions, remoteApp } from '../../../server/app-adapters/remote/index.js';
import { verifyWebhook } from '../../../server/features/notices/index.js';
import { tool } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { follow, type Served, serve } from '../served.js';
import { ScriptedApp, SECRET } from './scripted-app.js';

const END = { type: 'end' };

async function served(
  options: Partial<RemoteAppOptions> = {},
): Promise<Served & { readonly app: ScriptedApp }> {
  const app = await ScriptedApp.start();
  return { ...(await serve(remoteApp({ url: app.url, secret: SECRET, ...options }))), app };
}

describe('slices of an app that runs elsewhere', () => {
  it('have all that the app needs, and are signed', async () => {
    const { client, app } = await served({ version: '7', name: 'shop' });
    const first = client.send('main', 'One');
    (await app.next()).end({ type: 'text', delta: 'Uno' }, END);
    await first.result;
    const run = client.send('main', 'Two', { metadata: { from: 'page' } });
    const { slice, raw, headers } = await app.next();
    expect(slice).to.deep.include({
      protocol: 1,
      app: 'shop',
      version: '7',
      attempt: 1,
      steps: [],
      calls: [],
    });
    expect(slice).to.deep.include({
      said: { text: 0, reasoning: 0 },
      metadata: { from: 'page' },
      earlier: 0,
    });
    expect(slice.deadlineMs).to.equal(55_000);
    expect(Math.abs(slice.now - Date.now())).to.be.below(60_000);
    expect(slice.user).to.include({ id: 'token' });
    expect(slice.message).to.deep.include({ role: 'user', content: [{ type: 'text', text: 'Two' }] });
    expect(slice.history.map((message) => textOf(message as never))).to.deep.equal(['One', 'Uno']);
    expect(headers['webhook-id']).to.equal(slice.id);
    expect(await verifyWebhook({ headers, body: raw }, SECRET)).to.deep.equal(slice);
    await run.abort();
  });

  it('are cancelled with their run', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    const asked = await app.next();
    asked.say({ type: 'text', delta: 'Well, ' });
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    await asked.closed;
    expect(textOf((await run.result).message)).to.equal('Well, ');
  });

  it('say text, reasoning, data, tools of their own, a title, metadata and usage', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    const seen = follow(run);
    (await app.next()).end(
      { type: 'reasoning', delta: 'Hm. ' },
      { type: 'tool_use', callId: 'c1', name: 'look', input: { a: 1 } },
      { type: 'tool_result', callId: 'c1', name: 'look', output: 'seen' },
      { type: 'data', id: 'd1', name: 'chart', value: [1] },
      { type: 'usage', id: 'u1', inputTokens: 3 },
      { type: 'title', text: 'A title' },
      { type: 'annotate', metadata: { mood: 'good' } },
      '\n',
      { type: 'text', delta: 'Hi', unknown: true },
      { type: 'end', stopReason: 'max_tokens' },
    );
    expect(await seen).to.deep.equal([
      ['reasoning_delta', 'Hm. '],
      ['tool_use', 'c1', 'look', { a: 1 }],
      ['tool_result', 'c1', 'look', 'seen', false],
      ['data', 'chart', [1]],
      ['session_updated'],
      ['content_delta', 'Hi'],
      ['message_end', 'max_tokens'],
    ]);
    const { message, usage } = await run.result;
    expect(message.metadata).to.deep.include({ mood: 'good' });
    expect(usage).to.include({ inputTokens: 3 });
  });

  it('say all of it again after one died, and only what is new comes to readers', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    const seen = follow(run);
    const said = [
      { type: 'text', delta: 'Grüße 🎈 ' },
      { type: 'data', id: 'd', name: 'chart', value: 1 },
      { type: 'data', id: 'd', name: 'chart', value: 2 },
      { type: 'usage', id: 'u', inputTokens: 3 },
      { type: 'tool_use', callId: 'c', name: 'look', input: 1 },
      { type: 'title', text: 'A' },
    ];
    const first = await app.next();
    first.say(...said);
    for await (const event of client.events('main', { from: 'earliest' }))
      if (event.type === 'session_updated') break;
    first.cut();
    const second = await app.next();
    expect(second.slice).to.deep.include({ attempt: 2, said: { text: 8, reasoning: 0 } });
    second.say(...said, { type: 'text', delta: 'an' }).end({ type: 'continue' });
    const third = await app.next();
    third.end({ type: 'text', delta: 'n alle', at: 9 }, END);
    const events = await seen;
    expect(events.filter(([type]) => type !== 'content_delta')).to.deep.equal([
      ['data', 'chart', 1],
      ['data', 'chart', 2],
      ['tool_use', 'c', 'look', 1],
      ['session_updated'],
      ['message_end', 'end'],
    ]);
    const { message, usage } = await run.result;
    expect(textOf(message)).to.equal('Grüße 🎈 an alle');
    expect(usage).to.include({ inputTokens: 3 });
  });

  it('take back what a dead one said otherwise', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    const first = await app.next();
    first.say(
      { type: 'text', delta: 'It is ' },
      { type: 'step', n: 1, name: 'model' },
      { type: 'text', delta: 'raining' },
    );
    const text = run.text[Symbol.asyncIterator]();
    while (!(await text.next()).value?.includes('raining'));
    first.cut();
    (await app.next()).end(
      { type: 'text', delta: 'It is ' },
      { type: 'step', n: 1, name: 'model' },
      { type: 'text', delta: 'sunny' },
      { type: 'step', n: 1, name: 'model', value: 'sunny' },
      { type: 'continue' },
    );
    const third = await app.next();
    expect(third.slice.said.text).to.equal(11);
    third.end({ type: 'text', delta: 'It is sunny.' }, END);
    expect(textOf((await run.result).message)).to.equal('It is sunny.');
  });

  it('have the outcomes of steps, which are not asked for again', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    const first = await app.next();
    first.end(
      { type: 'step', n: 1, name: 'order' },
      { type: 'step', n: 2, name: 'slow' },
      { type: 'step', n: 1, name: 'order', value: { id: 7 } },
      { type: 'step', n: 3, name: 'pay', error: { code: 'NO_MONEY', message: 'None' } },
      { type: 'continue' },
    );
    const second = await app.next();
    expect(second.slice.steps).to.deep.equal([
      { n: 1, type: 'step', name: 'order', value: { id: 7 } },
      { n: 2, type: 'step', name: 'slow' },
      { n: 3, type: 'step', name: 'pay', error: { code: 'NO_MONEY', message: 'None' } },
    ]);
    second.end({ type: 'step', n: 2, name: 'slow', value: null }, END);
    expect((await run.result).stopReason).to.equal('end');
  });

  it('wait for people, tools of the gateway, children and times, one slice each', async () => {
    const child = await ScriptedApp.start();
    const app = await ScriptedApp.start();
    const add = tool({ schema: z.object({ a: z.number() }), handler: ({ a }) => a + 1 });
    const main = remoteApp({ url: app.url, secret: SECRET, tools: { add } });
    const helper = remoteApp({ url: child.url, secret: SECRET, name: 'helper' });
    const { client } = await serve(undefined as never, { apps: { main, helper }, defaultApp: 'main' });
    const run = client.send('main', 'Go');
    const first = await app.next();
    expect(first.slice.tools.map(({ name }) => name)).to.deep.equal(['add']);
    first.end(
      { type: 'ask', n: 1, name: 'day', payload: 'Which?', schema: { type: 'string', minLength: 3 } },
      { type: 'tool', n: 2, name: 'add', input: { a: 1 } },
      { type: 'tool', n: 3, name: 'nothing', input: null },
      { type: 'spawn', n: 4, app: 'helper', message: 'Help' },
      { type: 'confirm', n: 5, name: 'buy', input: { what: 'it' } },
      { type: 'sleep', n: 1, name: 'rest', ms: 1 },
      { type: 'wait' },
    );
    (await child.next()).end({ type: 'text', delta: 'Helped' }, END);
    let asked = await app.next();
    for (const event of await client
      .session('main')
      .state()
      .then(({ pending }) => pending)) {
      if (event.kind === 'confirmation')
        await client.session('main').respond(event.callId, { approved: false, reason: 'no' });
      else {
        const short = client.session('main').respond(event.callId, { output: 'x' });
        expect(await short.catch((error: unknown) => (error as { code: string }).code)).to.equal(
          'INVALID_PARAMS',
        );
        await client.session('main').respond(event.callId, { output: 'Monday' });
      }
    }
    const isOpen = (each: object): boolean => !('value' in each || 'error' in each);
    while ([...asked.slice.calls, ...asked.slice.steps].some(isOpen)) {
      asked.end({ type: 'wait' });
      asked = await app.next();
    }
    const { calls, steps } = asked.slice;
    expect(steps).to.deep.equal([{ n: 1, type: 'sleep', name: 'rest', value: null }]);
    expect(calls.slice(0, 2)).to.deep.equal([
      { n: 1, type: 'ask', name: 'day', value: 'Monday' },
      { n: 2, type: 'tool', name: 'add', value: 2 },
    ]);
    expect(calls[2]).to.have.nested.property('error.code', 'TOOL_FAILED');
    expect(calls[3]).to.deep.include({ type: 'spawn', name: 'helper' });
    expect(calls[3]!.value).to.deep.include({ text: 'Helped', stopReason: 'end' });
    expect(calls[4]!.value).to.deep.include({ approved: false, reason: 'no' });
    asked.end(END);
    expect((await run.result).stopReason).to.equal('end');
  });

  it('end a run by an error that people see', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    (await app.next()).end(
      { type: 'text', delta: 'Half' },
      { type: 'error', code: 'NO_MONEY', message: 'There is none' },
    );
    const result = await run.result;
    expect(result).to.deep.include({
      stopReason: 'error',
      error: { code: 'NO_MONEY', message: 'There is none' },
    });
    expect(textOf(result.message)).to.equal('Half');
  });

  it('end a run as UPSTREAM_FAILED once too many died in a row', async () => {
    const { client, app } = await served({ attempts: 2 });
    const run = client.send('main', 'Go');
    (await app.next()).say({ type: 'text', delta: 'Half' }).cut();
    (await app.next()).answer(503).end();
    (await app.next()).end({ type: 'continue' });
    const result = await run.result;
    expect(result.error?.code).to.equal('UPSTREAM_FAILED');
    expect(app.left).to.equal(0);
  });
});
