import { expect } from 'chai';
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { tool } from '../../../server/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { gate } from '../../support/gate.js';

/** A resumable app whose tool asks first, and counts what it ran. */
function resumable(url: string) {
  const ran: unknown[] = [];
  const erase = tool({
    confirm: true,
    handler: (input) => {
      ran.push(input);
      return 'erased';
    },
  });
  return { ran, app: openaiApp({ baseURL: url, model: 'tiny', tools: { erase }, resumable: true }) };
}

describe('a resumable openai app', () => {
  it('takes up an open confirmation after a crash, and the model goes on', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: resumable(endpoint.url).app });
    const before = connectClient(first.url);
    const sent = before.send('main', 'Erase it');
    const request = await endpoint.next(1);
    request.chunk({ content: 'Well.' });
    request.calls({ id: 'a', name: 'erase', input: '{"path":"/a"}' }).finish('tool_calls');
    let callId = '';
    for await (const event of sent) {
      if (event.type !== 'tool_confirmation_required') continue;
      callId = event.callId;
      break;
    }
    const { app, ran } = resumable(endpoint.url);
    const second = await startDurable(crashed(path), { app });
    const after = connectClient(second.url);
    const events = after.events('main', { from: 'earliest' });
    await after.session('main').approve(callId);
    const again = await endpoint.next(2);
    expect(again.body.messages).to.deep.equal([
      { role: 'user', content: 'Erase it' },
      {
        role: 'assistant',
        content: 'Well.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'erase', arguments: '{"path":"/a"}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'erased' },
    ]);
    again.say('Done.');
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect(event.stopReason).to.equal('end');
      expect(event.message.content.map(({ type }) => type)).to.deep.equal([
        'text',
        'tool_use',
        'tool_result',
        'text',
      ]);
      break;
    }
    expect(ran).to.deep.equal([{ path: '/a' }]);
  });

  it('asks the model again for the step that was cut off', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: resumable(endpoint.url).app });
    const run = connectClient(first.url).send('main', 'Hello');
    (await endpoint.next(1)).chunk({ content: 'Half' });
    await run.text[Symbol.asyncIterator]().next();
    const second = await startDurable(crashed(path), { app: resumable(endpoint.url).app });
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    const again = await endpoint.next(2);
    expect(again.body.messages).to.deep.equal([{ role: 'user', content: 'Hello' }]);
    again.say(' and whole.');
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect(textOf(event.message)).to.equal('Half and whole.');
      break;
    }
  });

  it('says nothing twice of an answer that the model gives again', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: resumable(endpoint.url).app });
    const run = connectClient(first.url).send('main', 'Hello');
    const request = await endpoint.next(1);
    request.chunk({ reasoning_content: 'Hm, ' }).text('Half a').text(' sent');
    let said = '';
    for await (const delta of run.text) {
      said += delta;
      if (said === 'Half a sent') break;
    }
    const second = await startDurable(crashed(path), { app: resumable(endpoint.url).app });
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    const again = await endpoint.next(2);
    again.chunk({ reasoning_content: 'Hm, well.' }).text('Half').text(' a sente').say('nce.');
    const { message, deltas } = await endOf(events);
    expect(deltas).to.deep.equal(['Hm, ', 'Half a', ' sent', 'well.', 'e', 'nce.']);
    expect(textOf(message)).to.equal('Half a sentence.');
  });

  it('neither asks again what the model has answered nor makes a call again that has ended', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const ran: unknown[] = [];
    const note = tool({ handler: (input) => ran.push(input) && { noted: true } });
    const app = () => openaiApp({ baseURL: endpoint.url, model: 'tiny', tools: { note }, resumable: true });
    const first = await startDurable(path, { app: app() });
    const client = connectClient(first.url);
    client.send('main', 'Note it');
    const one = { id: 'a', name: 'note', input: '{"n":1}' };
    const two = { id: '', name: 'note', input: '{"n":2}' };
    const asked = await endpoint.next(1);
    await client.send('main', 'Quickly', { onBusy: 'steer' }).accepted;
    asked.text('Well. ').calls(one, two).finish('tool_calls');
    const before = await endpoint.next(2);
    expect(ran).to.deep.equal([{ n: 1 }, { n: 2 }]);

    const second = await startDurable(crashed(path), { app: app() });
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    const again = await endpoint.next(3);
    expect(again.body.messages).to.deep.equal(before.body.messages);
    expect(again.body.messages.at(-1)).to.deep.equal({ role: 'user', content: 'Quickly' });
    again.say('Done.');
    const { message, usage } = await endOf(events);
    const types = message.content.map(({ type }) => type);
    expect(types).to.deep.equal(['text', 'tool_use', 'tool_use', 'tool_result', 'tool_result', 'text']);
    expect(textOf(message)).to.equal('Well. Done.');
    expect(usage, 'of both answers').to.deep.equal({ inputTokens: 6, outputTokens: 4, totalTokens: 10 });
    expect(ran).to.have.length(2);
    expect(endpoint.asked).to.have.length(3);
  });

  it('makes a call again that was under way, which stays the same call for clients', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const begun = gate();
    const app = (handler: () => unknown) =>
      openaiApp({
        baseURL: endpoint.url,
        model: 'tiny',
        tools: { slow: tool({ handler }) },
        resumable: true,
      });
    const held = () => {
      begun.open();
      return new Promise(() => {});
    };
    const first = await startDurable(path, { app: app(held) });
    connectClient(first.url).send('main', 'Go');
    (await endpoint.next(1)).call('a', 'slow', { n: 1 }).finish('tool_calls');
    await begun.passed;
    const second = await startDurable(crashed(path), { app: app(() => 'late') });
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    const again = await endpoint.next(2);
    expect(again.body.messages.at(-1)).to.deep.include({ role: 'tool', tool_call_id: 'a', content: 'late' });
    again.say('Done.');
    const { message } = await endOf(events);
    expect(message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result', 'text']);
  });

  it('cancels the request upstream when its run is aborted', async () => {
    const endpoint = await ChatEndpoint.start();
    const { url } = await startDurable(newDatabase(), { app: resumable(endpoint.url).app });
    const run = connectClient(url).send('main', 'Hello');
    const request = await endpoint.next(1);
    request.text('One');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    await request.closed;
    expect(request.finished).to.equal(false);
    expect((await run.result).stopReason).to.equal('aborted');
  });
});

/** The end of the session's first run, and what was said until then piece by piece. */
async function endOf(events: AsyncIterable<GatewayEvent>) {
  const deltas: string[] = [];
  for await (const event of events) {
    if (event.type === 'content_delta' || event.type === 'reasoning_delta') deltas.push(event.delta);
    if (event.type === 'message_end' && event.stopReason !== 'steered')
      return { deltas, message: event.message, usage: event.usage };
  }
  throw new Error('the events ended');
}
