import { tool as aiTool, ToolLoopAgent } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { tool } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { collect } from '../../support/client.js';
import { outline, serve } from '../served.js';
import { asked, calls, ends, says, scriptedModel } from './scripted-model.js';

/** A tool that asks first, and what it was run with. */
function erase(needsApproval: boolean | ((input: { path: string }) => boolean) = true) {
  const ran: unknown[] = [];
  const erasing = aiTool({
    inputSchema: z.object({ path: z.string() }),
    needsApproval,
    execute: (input) => {
      ran.push(input);
      return 'erased';
    },
  });
  return { ran, tools: { erase: erasing } };
}

const script = () =>
  scriptedModel(
    [...says('Well.'), calls('erase', { path: '/a' }), ends('tool-calls')],
    [...says('Done.'), ends()],
  );

describe('a tool of the AI SDK that needs approval', () => {
  it('asks the person, runs when approved, and the model goes on', async () => {
    const { ran, tools } = erase();
    const model = script();
    const { client } = await serve(aiSdkApp({ model, tools }));
    const run = client.send('main', 'Erase it');
    const events = client.events('main');
    for await (const event of events) {
      if (event.type !== 'tool_confirmation_required') continue;
      expect(ran).to.deep.equal([]);
      await client.session('main').approve(event.callId);
      break;
    }
    const seen = outline(await collect(run)) as any[];
    expect(seen.map(({ type }) => type)).to.deep.equal([
      'content_delta',
      'tool_use',
      'tool_confirmation_required',
      'tool_confirmation_result',
      'tool_result',
      'content_delta',
    ]);
    const [use, required, result, output] = seen.slice(1);
    expect(required).to.deep.include({ callId: use.callId, name: 'erase', input: { path: '/a' } });
    expect(result).to.deep.include({ callId: use.callId, approved: true, by: 'token' });
    expect(output).to.deep.include({ callId: use.callId, output: 'erased', isError: false });
    expect(ran).to.deep.equal([{ path: '/a' }]);
    expect((await run.result).usage).to.include({ totalTokens: 30 });
  });

  it('denied, does not run: the model hears why', async () => {
    const { ran, tools } = erase();
    const model = script();
    const { client } = await serve(aiSdkApp({ model, tools }));
    const run = client.send('main', 'Erase it');
    for await (const event of run) {
      if (event.type === 'tool_confirmation_required')
        await client.session('main').deny(event.callId, 'too risky');
    }
    const { message, stopReason } = await run.result;
    expect(ran).to.deep.equal([]);
    expect(stopReason).to.equal('end');
    expect(message.content.find(({ type }) => type === 'tool_result')).to.deep.include({
      output: 'Denied: too risky',
      isError: true,
    });
    const results = asked(model, 1).prompt.filter(({ role }) => role === 'tool') as any[];
    expect(results.flatMap(({ content }) => content)[0].output).to.deep.equal({
      type: 'execution-denied',
      reason: 'too risky',
    });
  });

  /** Runs what erases a file, and approves that with another input. */
  const approvedWith = async (input: object) => {
    const { ran, tools } = erase();
    const { client } = await serve(aiSdkApp({ model: script(), tools }));
    const run = client.send('main', 'Erase it');
    for await (const event of run)
      if (event.type === 'tool_confirmation_required')
        await client.session('main').approve(event.callId, input);
    return { ran, run };
  };

  it('approved with another input, runs with that', async () => {
    const { ran } = await approvedWith({ path: '/b' });
    expect(ran).to.deep.equal([{ path: '/b' }]);
  });

  it('approved with an input that does not fit, does not run', async () => {
    const { ran, run } = await approvedWith({ path: 5 });
    expect(ran).to.deep.equal([]);
    const { message } = await run.result;
    expect(message.content.find(({ type }) => type === 'tool_result')).to.deep.include({ isError: true });
  });

  it('asks for several calls at once, beside one that needs no approval', async () => {
    const { ran, tools } = erase(({ path }) => path !== '/free');
    const model = scriptedModel(
      [
        calls('erase', { path: '/a' }, 'c1'),
        calls('erase', { path: '/free' }, 'c2'),
        calls('erase', { path: '/b' }, 'c3'),
        ends('tool-calls'),
      ],
      [...says('Done.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model, tools }));
    const run = client.send('main', 'Erase them');
    const asks: { callId: string; input: any }[] = [];
    for await (const event of run) {
      if (event.type !== 'tool_confirmation_required') continue;
      asks.push(event);
      if (asks.length < 2) continue;
      // In the other order than they were asked.
      for (const { callId, input } of asks.reverse()) {
        if (input.path === '/a') await client.session('main').deny(callId);
        else await client.session('main').approve(callId);
      }
    }
    expect(ran).to.deep.equal([{ path: '/free' }, { path: '/b' }]);
    const results = (await run.result).message.content.filter(({ type }) => type === 'tool_result') as any[];
    expect(results.map(({ output }) => output).sort()).to.deep.equal(['Denied', 'erased', 'erased']);
    expect(textOf((await run.result).message)).to.equal('Done.');
  });

  it('stops asking after maxRounds', async () => {
    const { ran, tools } = erase();
    const again = [calls('erase', { path: '/a' }), ends('tool-calls')];
    const { client } = await serve(
      aiSdkApp({ model: scriptedModel(again, again, again, again), tools }, { maxRounds: 2 }),
    );
    const run = client.send('main', 'Erase it');
    for await (const event of run) {
      if (event.type === 'tool_confirmation_required') await client.session('main').approve(event.callId);
    }
    expect(ran).to.have.length(2);
    expect((await run.result).stopReason).to.equal('tool_use');
  });

  it('is not forced on the model again after the approval', async () => {
    const { tools } = erase();
    const model = script();
    const { send, client } = await serve(aiSdkApp({ model, tools }));
    const run = send('Erase it', { parameters: { tool_choice: 'required' } });
    for await (const event of run) {
      if (event.type === 'tool_confirmation_required') await client.session('main').approve(event.callId);
    }
    expect([0, 1].map((call) => asked(model, call).toolChoice?.type)).to.deep.equal(['required', 'auto']);
  });

  it('of an agent asks too', async () => {
    const { ran, tools } = erase();
    const { client } = await serve(aiSdkApp(new ToolLoopAgent({ model: script(), tools })));
    const run = client.send('main', 'Erase it');
    for await (const event of run) {
      if (event.type === 'tool_confirmation_required') await client.session('main').approve(event.callId);
    }
    expect([ran.length, (await run.result).stopReason]).to.deep.equal([1, 'end']);
  });
});

describe('tools that go through the gateway', () => {
  it('are offered to the model with their schema, ask, and are logged once', async () => {
    const greet = tool({
      description: 'Greets',
      schema: z.object({ name: z.string() }),
      confirm: true,
      handler: ({ name }, { user }) => ({ said: `Hello ${name} from ${user?.id}` }),
    });
    const model = scriptedModel(
      [calls('greet', { name: 'Ada' }), ends('tool-calls')],
      [...says('Done.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model }, { tools: { greet } }));
    const run = client.send('main', 'Greet Ada');
    const seen: any[] = [];
    for await (const event of run) {
      seen.push(event);
      if (event.type === 'tool_confirmation_required') await client.session('main').approve(event.callId);
    }
    expect(outline(seen).map(({ type }) => type)).to.deep.equal([
      'tool_use',
      'tool_confirmation_required',
      'tool_confirmation_result',
      'tool_result',
      'content_delta',
    ]);
    const [offered] = asked(model).tools as any[];
    expect(offered).to.deep.include({ name: 'greet', description: 'Greets' });
    expect(offered.inputSchema.properties).to.deep.equal({ name: { type: 'string' } });
    const [result] = asked(model, 1).prompt.at(-1)!.content as any[];
    expect(result.output).to.deep.equal({ type: 'json', value: { said: 'Hello Ada from token' } });
  });

  it('that are denied or do not fit are errors to the model, and the run goes on', async () => {
    const greet = tool({ schema: z.object({ name: z.string() }), confirm: true, handler: () => 'never' });
    const model = scriptedModel(
      [calls('greet', { nom: 'Ada' }), ends('tool-calls')],
      [calls('greet', { name: 'Ada' }), ends('tool-calls')],
      [...says('Sorry.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model }, { tools: { greet } }));
    const run = client.send('main', 'Greet');
    for await (const event of run) {
      if (event.type === 'tool_confirmation_required') await client.session('main').deny(event.callId, 'no');
    }
    const outputs = [1, 2].map((call) => (asked(model, call).prompt.at(-1)!.content as any[])[0].output);
    expect(outputs[0].type).to.equal('error-text');
    expect(outputs[0].value).to.match(/name/);
    expect(outputs[1]).to.deep.equal({ type: 'error-text', value: 'Denied: no' });
    const results = (await run.result).message.content.filter(({ type }) => type === 'tool_result');
    expect(results).to.have.length(2);
  });

  for (const form of ['settings', 'agent'] as const) {
    it(`without execute are answered by the user's client (${form})`, async () => {
      const pick = aiTool({
        description: 'Picks a colour',
        inputSchema: z.object({ of: z.array(z.string()) }),
        outputSchema: z.string(),
      });
      const model = scriptedModel(
        [calls('pick', { of: ['red', 'blue'] }), ends('tool-calls')],
        [...says('Red it is.'), ends()],
      );
      const settings = { model, tools: { pick } };
      const { client } = await serve(aiSdkApp(form === 'agent' ? new ToolLoopAgent(settings) : settings));
      const run = client.send('main', 'Pick');
      for await (const event of run) {
        if (event.type !== 'input_required') continue;
        expect(event).to.deep.include({ name: 'pick', payload: { of: ['red', 'blue'] } });
        await client.session('main').respond(event.callId, { output: 'red' });
      }
      const { message, stopReason } = await run.result;
      expect(message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result', 'text']);
      expect(stopReason).to.equal('end');
      const [result] = asked(model, 1).prompt.at(-1)!.content as any[];
      expect(result.output).to.deep.equal({ type: 'text', value: 'red' });
    });

    it(`that the caller brought along are offered, and answered by its client (${form})`, async () => {
      const model = scriptedModel(
        [calls('open_tab', { url: 'u' }), ends('tool-calls')],
        [...says('Open.'), ends()],
      );
      const { send, client } = await serve(
        aiSdkApp(form === 'agent' ? new ToolLoopAgent({ model }) : { model }),
      );
      const parameters = { type: 'object', properties: { url: { type: 'string' } } };
      const events = client.events('main');
      const run = send('Open it', {
        clientTools: [{ name: 'open_tab', description: 'Opens', parameters, strict: true }],
      });
      for await (const event of events) {
        if (event.type === 'input_required')
          await client.session('main').respond(event.callId, { output: { ok: true } });
        if (event.type === 'message_end') break;
      }
      expect((await run.result).stopReason).to.equal('end');
      const [offered] = asked(model).tools as any[];
      expect(offered).to.deep.include({
        name: 'open_tab',
        description: 'Opens',
        inputSchema: parameters,
        strict: true,
      });
      const [result] = asked(model, 1).prompt.at(-1)!.content as any[];
      expect(result.output).to.deep.equal({ type: 'json', value: { ok: true } });
    });
  }

  it('that the provider runs are told, and no model is shown them again', async () => {
    const ran = { toolCallId: 'ws_1', toolName: 'web_search', providerExecuted: true } as const;
    const model = scriptedModel(
      [
        { type: 'tool-call', input: '{"query":"x"}', ...ran },
        { type: 'tool-result', result: [{ encryptedContent: 'long' }], ...ran },
        ...says('Found.'),
        ends(),
      ],
      [...says('Again.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model }));
    const { message } = await client.send('main', 'a').result;
    expect(message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result', 'text']);
    expect(message.content[0]).to.deep.include({ name: 'web_search', providerExecuted: true });
    await client.send('main', 'b').result;
    const { prompt } = asked(model, 1);
    expect(prompt.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    expect(prompt[1]!.content).to.deep.equal([{ type: 'text', text: 'Found.', providerOptions: undefined }]);
  });

  it('that a caller brings under the name of a tool of the app do not take its place', async () => {
    const { ran, tools } = erase(false);
    const greet = tool({ handler: () => 'ours' });
    const model = scriptedModel(
      [calls('erase', { path: '/a' }, 'c1'), calls('greet', {}, 'c2'), ends('tool-calls')],
      [...says('Done.'), ends()],
    );
    const { send } = await serve(aiSdkApp({ model, tools }, { tools: { greet } }));
    const { message } = await send('Hi', { clientTools: [{ name: 'erase' }, { name: 'greet' }] }).result;
    expect(ran).to.have.length(1);
    const results = message.content.filter(({ type }) => type === 'tool_result') as any[];
    expect(results.map(({ output }) => output)).to.have.members(['erased', 'ours']);
    expect(asked(model).tools?.map(({ name }) => name)).to.deep.equal(['erase', 'greet']);
  });
});
