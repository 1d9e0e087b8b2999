import { expect } from 'chai';
import { z } from 'zod';
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { tool } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { outline, serve } from '../served.js';

const ran: unknown[] = [];
const tools = {
  weather: tool({
    description: 'The weather in a city',
    schema: z.object({ city: z.string() }),
    handler: ({ city }) => ({ city, degrees: 20 }),
  }),
  erase: tool({
    schema: z.object({ path: z.string() }),
    confirm: true,
    handler: (input) => {
      ran.push(input);
      return 'erased';
    },
  }),
  pick: tool({ runsOn: 'client', schema: z.object({ of: z.array(z.string()) }) }),
};

async function start(options: object = {}) {
  ran.length = 0;
  const endpoint = await ChatEndpoint.start();
  const app = openaiApp({ baseURL: endpoint.url, model: 'tiny', tools, ...options });
  return { endpoint, ...(await serve(app)) };
}

const call = (name: string, input: unknown, id = `id-${name}`) => ({
  id,
  name,
  input: typeof input === 'string' ? input : JSON.stringify(input),
});

describe('the tools of an openai app', () => {
  it('are offered with their schemas, called, logged, and their results given to the model', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Weather?');
    const first = await endpoint.next(1);
    const [offered] = first.body.tools;
    expect(offered).to.deep.nested.include({
      'function.name': 'weather',
      'function.description': 'The weather in a city',
    });
    expect(offered.function.parameters.properties).to.deep.equal({ city: { type: 'string' } });
    first.chunk({ content: 'Let me see.' });
    first
      .calls(call('weather', { city: 'Oslo' }, 'a'), call('weather', { city: 'Rome' }, 'b'))
      .finish('tool_calls');
    const second = await endpoint.next(2);
    expect(second.body.messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'b', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"city":"Oslo","degrees":20}' },
      { role: 'tool', tool_call_id: 'b', content: '{"city":"Rome","degrees":20}' },
    ]);
    second.say('Warm.');
    const { message, stopReason, usage } = await run.result;
    expect(message.content.map(({ type }) => type)).to.deep.equal([
      'text',
      'tool_use',
      'tool_use',
      'tool_result',
      'tool_result',
      'text',
    ]);
    expect([stopReason, usage?.totalTokens]).to.deep.equal(['end', 10]);

    const later = client.send('main', 'Sure?');
    const third = await endpoint.next(3);
    const roles = third.body.messages.map(({ role }: { role: string }) => role);
    expect(roles).to.deep.equal(['user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
    third.say('Yes.');
    await later.result;
  });

  it('ask the person where they must; approved they run, denied the model hears why', async () => {
    for (const approve of [true, false]) {
      const { endpoint, client } = await start();
      const run = client.send('main', 'Erase it');
      (await endpoint.next(1)).calls(call('erase', { path: '/a' })).finish('tool_calls');
      const seen: any[] = [];
      for await (const event of run) {
        seen.push(event);
        if (event.type === 'tool_confirmation_required') {
          expect(ran).to.deep.equal([]);
          if (approve) await client.session('main').approve(event.callId);
          else await client.session('main').deny(event.callId, 'too risky');
          const second = await endpoint.next(2);
          expect(second.body.messages.at(-1).content).to.equal(approve ? 'erased' : 'Denied: too risky');
          second.say('Done.');
        }
      }
      expect(outline(seen).map(({ type }) => type)).to.deep.equal([
        'tool_use',
        'tool_confirmation_required',
        'tool_confirmation_result',
        'tool_result',
        'content_delta',
      ]);
      expect(ran).to.have.length(approve ? 1 : 0);
    }
  });

  it('that the client runs are answered by it, those of the app and those that the caller brought', async () => {
    const { endpoint, client, send } = await start();
    const parameters = { type: 'object', properties: { url: { type: 'string' } } };
    const events = client.events('main');
    const run = send('Go', {
      clientTools: [
        { name: 'open_tab', parameters, strict: true },
        { name: 'weather', description: 'a false one' },
      ],
    });
    const first = await endpoint.next(1);
    expect(first.body.tools.map((it: any) => it.function.name)).to.deep.equal([
      'weather',
      'erase',
      'pick',
      'open_tab',
    ]);
    expect(first.body.tools.at(-1).function).to.deep.equal({ name: 'open_tab', parameters, strict: true });
    first.calls(call('pick', { of: ['red'] }), call('open_tab', { url: 'u' })).finish('tool_calls');
    const asked: string[] = [];
    for await (const event of events) {
      if (event.type === 'input_required') {
        asked.push(event.name);
        await client.session('main').respond(event.callId, { output: `did ${event.name}` });
      }
      if (asked.length === 2 && event.type === 'tool_result') break;
    }
    const second = await endpoint.next(2);
    const results = second.body.messages.filter(({ role }: any) => role === 'tool');
    expect(results.map(({ content }: any) => content)).to.deep.equal(['did pick', 'did open_tab']);
    second.say('Done.');
    expect((await run.result).stopReason).to.equal('end');
  });

  it('that fail, do not exist or get a broken input are errors to the model, and the run goes on', async () => {
    const broken = tool({
      handler: () => {
        throw new Error('hunter2');
      },
    });
    const { endpoint, client } = await start({ tools: { ...tools, broken } });
    const run = client.send('main', 'Go');
    (await endpoint.next(1))
      .calls(call('broken', ''), call('missing', {}), call('weather', '{"city":'))
      .finish('tool_calls');
    const second = await endpoint.next(2);
    const results = second.body.messages
      .filter(({ role }: any) => role === 'tool')
      .map(({ content }: any) => content);
    expect(results.slice(0, 2)).to.deep.equal(['The tool failed', 'There is no tool named missing']);
    expect(results[2]).to.match(/parameters do not match|input/);
    second.say('Sorry.');
    expect(textOf((await run.result).message)).to.equal('Sorry.');
  });

  it('are told apart where the endpoint gives all calls one index or one id', async () => {
    const { endpoint, send } = await start();
    const use = { type: 'tool_use' as const, callId: 'a', name: 'weather', input: { city: 'Lima' } };
    const result = {
      type: 'tool_result' as const,
      callId: 'a',
      name: 'weather',
      output: { city: 'Lima' },
      isError: false,
    };
    const run = send('Go', { preceding: [{ role: 'assistant', content: [use, result] }] });
    const fragment = (id: string, city: string) => ({
      tool_calls: [{ index: 0, id, function: { name: 'weather', arguments: JSON.stringify({ city }) } }],
    });
    (await endpoint.next(1)).chunk(fragment('a', 'Oslo')).chunk(fragment('b', 'Rome')).finish('tool_calls');
    const second = await endpoint.next(2);
    second.calls(call('weather', { city: 'Bern' }, 'a')).finish('tool_calls');
    const third = await endpoint.next(3);
    const results = third.body.messages.filter(({ role }: any) => role === 'tool');
    expect(results.map(({ content }: any) => JSON.parse(content).city)).to.deep.equal([
      'Lima',
      'Oslo',
      'Rome',
      'Bern',
    ]);
    expect(new Set(results.map(({ tool_call_id }: any) => tool_call_id)).size).to.equal(4);
    third.say('Done.');
    await run.result;
  });

  describe('of a stream that names them badly', () => {
    type Piece = { id?: string | null; index?: number | null; name?: string | null; text?: string };
    const oslo = '{"city":"Oslo"}';
    const rome = '{"city":"Rome"}';
    const named = { name: 'weather' };
    const shapes: Record<string, readonly Piece[]> = {
      'empty ids': [
        { index: 0, id: '', ...named, text: oslo },
        { index: 0, id: '', ...named, text: rome },
      ],
      'no index and no id': [
        { ...named, text: oslo },
        { ...named, text: rome },
      ],
      'null for both': [
        { index: null, id: null, ...named, text: oslo },
        { index: null, id: null, ...named, text: rome },
      ],
      'one id for both': [
        { index: 0, id: 'call', ...named, text: oslo },
        { index: 0, id: 'call', ...named, text: rome },
      ],
      'names that come before their arguments, in pieces': [
        { index: 0, ...named },
        { index: 0, text: oslo.slice(0, 5) },
        { index: 0, text: oslo.slice(5) },
        { index: 0, ...named },
        { index: 0, text: rome.slice(0, 9) },
        { index: 0, text: rome.slice(9) },
      ],
      'the id and the name in each piece': [
        { index: 0, id: 'a', ...named, text: '' },
        { index: 0, id: 'a', ...named, text: oslo.slice(0, 9) },
        { index: 0, id: 'a', ...named, text: oslo.slice(9) },
        { index: 0, id: 'a', ...named, text: '' },
        { index: 1, id: 'b', ...named, text: rome.slice(0, 9) },
        { index: 1, id: 'b', ...named, text: rome.slice(9) },
      ],
      'ids that come late, and an empty name behind': [
        { index: 0, ...named, text: oslo.slice(0, 9) },
        { index: 0, id: 'a', name: '', text: oslo.slice(9) },
        { index: 1, ...named, text: rome },
        { index: 1, id: 'b', name: null },
      ],
    };
    for (const [shape, pieces] of Object.entries(shapes))
      it(`are two where it has ${shape}`, async () => {
        const { endpoint, client } = await start();
        const run = client.send('main', 'Go');
        const first = await endpoint.next(1);
        for (const { name, text, ...piece } of pieces)
          first.chunk({
            tool_calls: [
              {
                ...piece,
                function: {
                  ...(name !== undefined && { name }),
                  ...(text !== undefined && { arguments: text }),
                },
              },
            ],
          });
        first.finish('tool_calls');
        const second = await endpoint.next(2);
        const results = second.body.messages.filter(({ role }: any) => role === 'tool');
        expect(results.map(({ content }: any) => JSON.parse(content).city)).to.deep.equal(['Oslo', 'Rome']);
        expect(new Set(results.map(({ tool_call_id }: any) => tool_call_id)).size).to.equal(2);
        second.say('Done.');
        await run.result;
      });
  });

  it('are not called with half an input when the model ran out of tokens', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Go');
    (await endpoint.next(1)).calls(call('weather', '{"city":"Os')).finish('length');
    const { stopReason, message } = await run.result;
    expect([stopReason, message.content]).to.deep.equal(['max_tokens', []]);
  });

  it('are forced in the first step alone', async () => {
    const { endpoint, send } = await start();
    const run = send('Go', { parameters: { tool_choice: 'required', temperature: 0 } });
    const first = await endpoint.next(1);
    expect(first.body.tool_choice).to.equal('required');
    first.calls(call('weather', { city: 'Oslo' })).finish('tool_calls');
    const second = await endpoint.next(2);
    expect(second.body).to.not.have.property('tool_choice');
    expect(second.body.temperature).to.equal(0);
    second.say('Done.');
    await run.result;
  });

  it('stop after maxSteps, with every call answered', async () => {
    const { endpoint, client } = await start({ maxSteps: 2 });
    const run = client.send('main', 'Go');
    for (const step of [1, 2]) {
      (await endpoint.next(step)).calls(call('weather', { city: 'Oslo' }, `id-${step}`)).finish('tool_calls');
    }
    const { stopReason, message } = await run.result;
    expect(stopReason).to.equal('tool_use');
    expect(message.content.map(({ type }) => type)).to.deep.equal([
      'tool_use',
      'tool_result',
      'tool_use',
      'tool_result',
    ]);
    expect(endpoint.asked).to.have.length(2);
  });

  it('let messages in that were sent meanwhile', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Erase it');
    (await endpoint.next(1)).calls(call('erase', { path: '/a' })).finish('tool_calls');
    for await (const event of run) {
      if (event.type !== 'tool_confirmation_required') continue;
      await client.send('main', 'And be quick', { onBusy: 'steer' }).accepted;
      await client.session('main').approve(event.callId);
      const second = await endpoint.next(2);
      expect(second.body.messages.slice(-2)).to.deep.equal([
        { role: 'tool', tool_call_id: 'id-erase', content: 'erased' },
        { role: 'user', content: 'And be quick' },
      ]);
      second.say('Done.');
    }
    expect(textOf((await run.result).message)).to.equal('Done.');
  });
});
