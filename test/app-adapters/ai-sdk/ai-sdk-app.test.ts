import { tool as aiTool, stepCountIs, streamText, ToolLoopAgent } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { textOf } from '../../../shared/messages.js';
import { collect } from '../../support/client.js';
import { outline, serve } from '../served.js';
import { asked, calls, ends, says, scriptedModel, thinks } from './scripted-model.js';

const weather = () =>
  aiTool({
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => ({ city, degrees: 20 }),
  });

describe('aiSdkApp', () => {
  it('streams text and reasoning as deltas, with usage and stop reason', async () => {
    const model = scriptedModel([...thinks('Hm.'), ...says('Hello you there'), ends()]);
    const { client } = await serve(aiSdkApp({ model, system: 'Be kind.' }));
    const run = client.send('main', 'Hi');
    expect(outline(await collect(run))).to.deep.equal([
      { type: 'reasoning_delta', delta: 'Hm.' },
      { type: 'content_delta', delta: 'Hello ' },
      { type: 'content_delta', delta: 'you ' },
      { type: 'content_delta', delta: 'there' },
    ]);
    const { message, stopReason, usage } = await run.result;
    expect(message.content).to.deep.equal([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello you there' },
    ]);
    expect(stopReason).to.equal('end');
    expect(usage).to.deep.equal({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
      cachedInputTokens: 2,
      reasoningTokens: 1,
    });
    expect(JSON.parse(JSON.stringify(asked(model).prompt))).to.deep.equal([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  it('runs the tools of the SDK, shows their calls and results, and remembers them', async () => {
    const model = scriptedModel(
      [...says('Let me look.'), calls('weather', { city: 'Oslo' }), ends('tool-calls')],
      [calls('weather', { city: 'Rome' }), ends('tool-calls')],
      [...says('Warm.'), ends()],
      [...says('As I said.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model, tools: { weather: weather() } }));
    const run = client.send('main', 'Weather?');
    const events = outline(await collect(run));
    expect(events.map(({ type }) => type)).to.deep.equal([
      'content_delta',
      'content_delta',
      'content_delta',
      'tool_use',
      'tool_result',
      'tool_use',
      'tool_result',
      'content_delta',
    ]);
    const [use, result, second] = events.slice(3) as any[];
    expect(use).to.deep.include({ name: 'weather', input: { city: 'Oslo' } });
    expect(result).to.deep.include({
      callId: use.callId,
      output: { city: 'Oslo', degrees: 20 },
      isError: false,
    });
    expect(second.callId, 'the model gave both calls one id').to.not.equal(use.callId);
    expect((await run.result).usage).to.include({ inputTokens: 30, totalTokens: 45 });

    await client.send('main', 'Sure?').result;
    const roles = asked(model, 3).prompt.map(({ role }) => role);
    expect(roles).to.deep.equal(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'user']);
    const [result1] = asked(model, 3).prompt[2]!.content as any[];
    expect(result1.output).to.deep.equal({ type: 'json', value: { city: 'Oslo', degrees: 20 } });
  });

  it('tells of a tool that fails without its words, and of an input that does not fit with those of the SDK', async () => {
    const broken = aiTool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new Error('password hunter2');
      },
    });
    const model = scriptedModel(
      [calls('broken', {}), ends('tool-calls')],
      [calls('weather', { town: 'Oslo' }), ends('tool-calls')],
      [...says('Sorry.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model, tools: { broken, weather: weather() } }));
    const run = client.send('main', 'Go');
    const results = outline(await collect(run)).filter(({ type }) => type === 'tool_result');
    expect(results[0]).to.deep.include({ name: 'broken', isError: true, output: 'The tool failed' });
    expect(results[1]).to.deep.include({ name: 'weather', isError: true });
    expect(results[1]!.output).to.match(/Invalid input for tool weather/);
    expect((await run.result).stopReason).to.equal('end');
  });

  it('shows the last of the results that a tool gives while it works', async () => {
    const counting = aiTool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'one';
        yield 'two';
      },
    });
    const model = scriptedModel([calls('counting', {}), ends('tool-calls')], [...says('Done.'), ends()]);
    const { client } = await serve(aiSdkApp({ model, tools: { counting } }));
    const { message } = await client.send('main', 'Count').result;
    const results = message.content.filter(({ type }) => type === 'tool_result') as any[];
    expect(results.map(({ output }) => output)).to.deep.equal(['two']);
  });

  it('takes system messages of callers, and prints nothing about them or about failures', async () => {
    const printed: unknown[] = [];
    const { warn, error } = console;
    console.warn = console.error = (...line: unknown[]) => void printed.push(line);
    try {
      const model = scriptedModel(
        [...says('Hi'), ends()],
        [...says('Oh'), { type: 'error', error: 'hunter2' }],
      );
      const { send } = await serve(aiSdkApp({ model }));
      await send('Hello', { preceding: [{ role: 'system', content: 'Rhyme.' }] }).result;
      expect(asked(model).prompt[0]).to.deep.include({ role: 'system', content: 'Rhyme.' });
      expect((await send('Again', {}).result).error?.code).to.equal('UPSTREAM_FAILED');
    } finally {
      Object.assign(console, { warn, error });
    }
    expect(printed).to.deep.equal([]);
  });

  it('stops after 20 steps, or as stopWhen says', async () => {
    const endless = Array.from({ length: 30 }, () => [
      calls('weather', { city: 'Oslo' }),
      ends('tool-calls'),
    ]);
    for (const [settings, steps] of [
      [{}, 20],
      [{ stopWhen: stepCountIs(2) }, 2],
    ] as const) {
      const model = scriptedModel(...endless);
      const { client } = await serve(aiSdkApp({ model, tools: { weather: weather() }, ...settings }));
      expect((await client.send('main', 'Go').result).stopReason).to.equal('tool_use');
      expect(model.doStreamCalls).to.have.length(steps);
    }
  });

  it('says max_tokens when the model ran out of them', async () => {
    const { client } = await serve(aiSdkApp({ model: scriptedModel([...says('Half a'), ends('length')]) }));
    const { stopReason, message } = await client.send('main', 'Hi').result;
    expect([stopReason, textOf(message)]).to.deep.equal(['max_tokens', 'Half a']);
  });

  it('shows sources and generated files as data', async () => {
    const model = scriptedModel([
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.test/', title: 'A' },
      { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      ends(),
    ]);
    const { client } = await serve(aiSdkApp({ model }));
    const { message } = await client.send('main', 'Hi').result;
    const [source, file] = message.content as any[];
    expect(source).to.deep.equal({
      type: 'data',
      id: 's1',
      name: 'source',
      value: { sourceType: 'url', url: 'https://a.test/', title: 'A' },
    });
    expect(file).to.deep.include({
      type: 'data',
      name: 'file',
      value: { mediaType: 'image/png', data: 'AAAA' },
    });
  });

  it('tells the model what the caller asks for in this answer, and not again', async () => {
    const model = scriptedModel([...says('a'), ends()], [...says('b'), ends()]);
    const { send } = await serve(aiSdkApp({ model }));
    await send('Hi', { parameters: { instructions: 'Be brief.' } }).result;
    expect(asked(model).prompt[0]).to.deep.include({ role: 'system', content: 'Be brief.' });
    await send('More', {}).result;
    expect(JSON.stringify(asked(model, 1).prompt)).to.not.contain('Be brief.');
  });

  it('takes the parameters of the caller before its own settings', async () => {
    const model = scriptedModel([...says('{}'), ends()], [...says('1'), ends()], [...says('x'), ends()]);
    const { send } = await serve(
      aiSdkApp({ model, temperature: 1, topP: 0.9, maxOutputTokens: 100, tools: { weather: weather() } }),
    );
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    await send('Hi', {
      parameters: {
        temperature: 0,
        max_tokens: 7,
        stop: 'END',
        seed: 3,
        presence_penalty: 0.5,
        frequency_penalty: 0.25,
        tool_choice: 'none',
        response_format: { type: 'json_schema', json_schema: { name: 'it', schema } },
        user: 'somebody',
        temperatures: 'x',
      },
    }).result;
    expect(asked(model)).to.deep.include({
      temperature: 0,
      topP: 0.9,
      maxOutputTokens: 7,
      stopSequences: ['END'],
      seed: 3,
      presencePenalty: 0.5,
      frequencyPenalty: 0.25,
      toolChoice: { type: 'none' },
    });
    expect(asked(model).responseFormat).to.deep.equal({ type: 'json', name: 'it', schema });
    await send('Hi', {
      parameters: { temperature: 'hot', stop: ['A', 'B'], response_format: { type: 'json_object' } },
    }).result;
    expect(asked(model, 1)).to.deep.include({
      temperature: 1,
      maxOutputTokens: 100,
      stopSequences: ['A', 'B'],
    });
    expect(asked(model, 1).responseFormat).to.deep.include({ type: 'json' });
  });

  it('makes the model call a tool where the caller says so, once', async () => {
    const named = { type: 'function', function: { name: 'weather' } };
    for (const [given, choice] of [
      ['required', { type: 'required' }],
      [named, { type: 'tool', toolName: 'weather' }],
    ] as const) {
      const model = scriptedModel(
        [calls('weather', { city: 'Oslo' }), ends('tool-calls')],
        [...says('Warm.'), ends()],
      );
      const { send } = await serve(aiSdkApp({ model, tools: { weather: weather() } }));
      await send('Hi', { parameters: { tool_choice: given } }).result;
      expect([0, 1].map((call) => asked(model, call).toolChoice)).to.deep.equal([choice, { type: 'auto' }]);
    }
  });

  it('leaves out earlier reasoning unless it is to be sent', async () => {
    for (const sendReasoning of [false, true]) {
      const model = scriptedModel([...thinks('Hm.'), ...says('A'), ends()], [...says('B'), ends()]);
      const { client } = await serve(aiSdkApp({ model }, { sendReasoning }));
      await client.send('main', 'Hi').result;
      await client.send('main', 'Hi').result;
      const parts = (asked(model, 1).prompt[1]!.content as { type: string }[]).map(({ type }) => type);
      expect(parts).to.deep.equal(sendReasoning ? ['reasoning', 'text'] : ['text']);
    }
  });
});

describe('an agent as an app', () => {
  it('streams, calls its tools, and takes the parameters of a caller', async () => {
    const model = scriptedModel(
      [calls('weather', { city: 'Oslo' }), ends('tool-calls')],
      [...says('Warm.'), ends()],
    );
    const agent = new ToolLoopAgent({
      model,
      instructions: 'Be kind.',
      tools: { weather: weather() },
      temperature: 1,
    });
    const { send } = await serve(aiSdkApp(agent, { description: 'Knows the weather' }));
    const { stopReason, message } = await send('Hi', { parameters: { temperature: 0 } }).result;
    expect(stopReason).to.equal('end');
    expect(message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result', 'text']);
    expect(asked(model, 1).prompt[0]).to.deep.include({ role: 'system', content: 'Be kind.' });
    expect(asked(model, 1).temperature).to.equal(0);
  });
});

describe('a function as an app', () => {
  it('gets the turn, the messages and the tools, and may wait before it streams', async () => {
    const model = scriptedModel([...says('Hello '), ends()]);
    const { client } = await serve(
      aiSdkApp(async (turn, messages, tools) => {
        turn.emit('began', Object.keys(tools));
        const system = `You speak with ${turn.user?.id}.`;
        return streamText({ model, system, messages, tools, abortSignal: turn.signal });
      }),
    );
    const run = client.send('main', 'Hi');
    const events = outline(await collect(run));
    expect(events[0]).to.deep.equal({ type: 'custom', name: 'began', payload: [] });
    expect(asked(model).prompt[0]).to.deep.include({ role: 'system', content: 'You speak with token.' });
  });
});
