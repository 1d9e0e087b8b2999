import { APICallError, tool as aiTool, dynamicTool, jsonSchema, streamText, ToolLoopAgent } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { expect } from 'chai';
import { z } from 'zod';
import { aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { tool } from '../../../server/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { type Message, textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { gate } from '../../support/gate.js';
import { asked, calls, ends, says, scriptedModel, thinks } from './scripted-model.js';

type Parts = ReturnType<typeof says>;

/** A model that gives these answers and then says the beginning of one that never ends. */
function hangingModel(first: readonly Parts[], last: Parts): MockLanguageModelV3 {
  let count = 0;
  return new MockLanguageModelV3({
    doStream: async () => {
      const parts = first[count++];
      if (parts) return { stream: simulateReadableStream({ chunks: [...parts] }) };
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of last) controller.enqueue(part);
          },
        }),
      };
    },
  });
}

/** The end of the session's first run, and what was said until then. */
async function endOf(events: AsyncIterable<GatewayEvent>) {
  const seen: GatewayEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.type === 'message_end') return { seen, ...event };
  }
  throw new Error('the events ended');
}

const typesOf = ({ content }: Pick<Message, 'content'>): string[] => content.map(({ type }) => type);

describe('a resumable app of the AI SDK', () => {
  it('neither asks again what the model has answered nor makes a call again that has ended', async () => {
    const ran: string[] = [];
    const tools = () => ({
      note: aiTool({
        inputSchema: z.object({ n: z.number() }),
        execute: ({ n }) => ran.push(`sdk ${n}`) && { noted: n },
      }),
    });
    const ours = { keep: tool({ schema: z.object({}), handler: () => ran.push('ours') && 'kept' }) };
    const answers = [
      [
        ...thinks('Hm. '),
        ...says('Well then. '),
        calls('note', { n: 1 }, 'c1'),
        calls('keep', {}, 'c2'),
        ends('tool-calls'),
      ],
      [calls('note', { n: 2 }, 'c1'), ends('tool-calls')],
    ];
    const partial = says('It is do').slice(0, -1);
    const held = hangingModel(answers, partial);
    const path = newDatabase();
    const first = await startDurable(path, {
      app: aiSdkApp({ model: held, tools: tools() }, { tools: ours, resumable: true }),
    });
    const run = connectClient(first.url).send('main', 'Go');
    let said = '';
    for await (const delta of run.text) {
      said += delta;
      if (said === 'Well then. It is do') break;
    }
    expect(ran).to.deep.equal(['sdk 1', 'ours', 'sdk 2']);

    const model = scriptedModel([...says('It is done.'), ends()]);
    const second = await startDurable(crashed(path), {
      app: aiSdkApp({ model, tools: tools() }, { tools: ours, resumable: true }),
    });
    const { message, usage, seen } = await endOf(
      connectClient(second.url).events('main', { from: 'earliest' }),
    );
    expect(ran, 'nothing was done again').to.have.length(3);
    expect(model.doStreamCalls, 'asked once').to.have.length(1);
    expect(asked(model).prompt).to.deep.equal(held.doStreamCalls[2]!.prompt);
    expect(textOf(message)).to.equal('Well then. It is done.');
    const types = typesOf(message);
    expect(types.filter((type) => type === 'reasoning')).to.have.length(1);
    expect(types.filter((type) => type === 'tool_use')).to.have.length(3);
    expect(types.filter((type) => type === 'tool_result')).to.have.length(3);
    expect(usage).to.include({ inputTokens: 30, outputTokens: 15 });
    const results = seen.filter(({ type }) => type === 'tool_result').map((event: any) => event.callId);
    expect(new Set(results)).to.have.length(3);
  });

  it('asks the next model on where one had broken off, and that one not again', async () => {
    const tools = {
      note: aiTool({ inputSchema: z.object({}), execute: () => 'noted' }),
    };
    const appOf = (model: MockLanguageModelV3, next: MockLanguageModelV3) =>
      aiSdkApp({ model, tools }, { models: [next], resumable: true });
    const broken = scriptedModel([...says('Half a wro'), { type: 'error', error: new Error('gone') }]);
    const held = hangingModel(
      [[...says('Well. '), calls('note', {}), ends('tool-calls')]],
      says('It is do').slice(0, -1),
    );
    const path = newDatabase();
    const first = await startDurable(path, { app: appOf(broken, held) });
    let said = '';
    for await (const delta of connectClient(first.url).send('main', 'Go').text) {
      said += delta;
      if (said.endsWith('It is do')) break;
    }
    const [again, model] = [scriptedModel(), scriptedModel([...says('It is done.'), ends()])];
    const second = await startDurable(crashed(path), { app: appOf(again, model) });
    const { message } = await endOf(connectClient(second.url).events('main', { from: 'earliest' }));
    expect(again.doStreamCalls).to.have.length(0);
    expect(asked(model).prompt).to.deep.equal(held.doStreamCalls[1]!.prompt);
    expect(textOf(message)).to.equal('Well. It is done.');
    expect(typesOf(message).slice(0, 3)).to.deep.equal(['text', 'tool_use', 'tool_result']);
  });

  it('makes a call again that was under way, as the same call for clients, and leaves the model out of it', async () => {
    for (const kind of ['sdk', 'ours'] as const) {
      const begun = gate();
      const appOf = (model: MockLanguageModelV3, execute: () => unknown) =>
        kind === 'sdk'
          ? aiSdkApp(
              {
                model,
                tools: { slow: dynamicTool({ inputSchema: jsonSchema({}), execute: async () => execute() }) },
              },
              { resumable: true },
            )
          : aiSdkApp({ model }, { tools: { slow: tool({ handler: execute }) }, resumable: true });
      const held = hangingModel([[...says('Wait. '), calls('slow', { n: 1 }), ends('tool-calls')]], []);
      const path = newDatabase();
      const never = () => {
        begun.open();
        return new Promise(() => {});
      };
      const first = await startDurable(path, { app: appOf(held, never) });
      connectClient(first.url).send('main', 'Go');
      await begun.passed;
      const model = scriptedModel([...says('Done.'), ends()]);
      const second = await startDurable(crashed(path), { app: appOf(model, () => 'late') });
      const { message } = await endOf(connectClient(second.url).events('main', { from: 'earliest' }));
      expect(typesOf(message), kind).to.deep.equal(['text', 'tool_use', 'tool_result', 'text']);
      expect(textOf(message)).to.equal('Wait. Done.');
      expect(model.doStreamCalls).to.have.length(1);
    }
  });

  it('takes up an approval that is open, and does not ask for one again that was given', async () => {
    const removed: string[] = [];
    const begun = gate();
    const appOf = (model: MockLanguageModelV3, hold: () => unknown) =>
      aiSdkApp(
        {
          model,
          tools: {
            remove: aiTool({
              inputSchema: z.object({ path: z.string() }),
              needsApproval: true,
              execute: async ({ path }) => {
                begun.open();
                await hold();
                removed.push(path);
                return 'removed';
              },
            }),
          },
        },
        { resumable: true },
      );
    const call = [calls('remove', { path: '/a' }), ends('tool-calls')];
    const path = newDatabase();
    const first = await startDurable(path, { app: appOf(scriptedModel(call), () => {}) });
    let callId = '';
    for await (const event of connectClient(first.url).send('main', 'Go')) {
      if (event.type !== 'tool_confirmation_required') continue;
      callId = event.callId;
      break;
    }
    const path2 = crashed(path);
    const second = await startDurable(path2, {
      app: appOf(scriptedModel(), () => new Promise(() => {})),
    });
    await connectClient(second.url).session('main').approve(callId);
    await begun.passed;
    const third = await startDurable(crashed(path2), {
      app: appOf(scriptedModel([...says('Gone.'), ends()]), () => {}),
    });
    const { message, seen } = await endOf(connectClient(third.url).events('main', { from: 'earliest' }));
    expect(removed).to.deep.equal(['/a']);
    expect(seen.filter(({ type }) => type === 'tool_confirmation_required')).to.have.length(1);
    expect(typesOf(message)).to.deep.equal(['tool_use', 'tool_result', 'text']);
  });

  it('comes to the same answer where the SDK had to ask more than once', async () => {
    const refused = new APICallError({
      ...{ message: 'overloaded', url: '', requestBodyValues: {}, isRetryable: true },
      responseHeaders: { 'retry-after-ms': '1' },
    });
    const inner = hangingModel([[calls('note', {}), ends('tool-calls')]], says('Hm').slice(0, -1));
    let count = 0;
    const held = new MockLanguageModelV3({
      doStream: async (options) => {
        if (count++ === 0) throw refused;
        return inner.doStream(options);
      },
    });
    let ran = 0;
    const tools = { note: tool({ handler: () => ++ran }) };
    const path = newDatabase();
    const first = await startDurable(path, { app: aiSdkApp({ model: held }, { tools, resumable: true }) });
    await connectClient(first.url).send('main', 'Go').text[Symbol.asyncIterator]().next();
    expect(count).to.equal(3);
    const model = scriptedModel([...says('Hm, done.'), ends()]);
    const second = await startDurable(crashed(path), {
      app: aiSdkApp({ model }, { tools, resumable: true }),
    });
    const { message } = await endOf(connectClient(second.url).events('main', { from: 'earliest' }));
    expect(textOf(message)).to.equal('Hm, done.');
    expect(ran).to.equal(1);
    expect(model.doStreamCalls).to.have.length(1);
  });

  it('can be a function that makes its model durable, and no agent', async () => {
    const appOf = (model: MockLanguageModelV3) =>
      aiSdkApp(
        (turn, messages, _tools, durable) =>
          streamText({ model: durable.model(model), messages, abortSignal: turn.signal, onError: () => {} }),
        { resumable: true },
      );
    const path = newDatabase();
    const first = await startDurable(path, { app: appOf(hangingModel([], says('Hello wor').slice(0, -1))) });
    const run = connectClient(first.url).send('main', 'Go');
    let said = '';
    for await (const delta of run.text) {
      said += delta;
      if (said === 'Hello wor') break;
    }
    const second = await startDurable(crashed(path), {
      app: appOf(scriptedModel([...says('Hello world'), ends()])),
    });
    const { message } = await endOf(connectClient(second.url).events('main', { from: 'earliest' }));
    expect(textOf(message)).to.equal('Hello world');
    const agent = new ToolLoopAgent({ model: scriptedModel() });
    expect(() => aiSdkApp(agent, { resumable: true })).to.throw('cannot be resumable');
  });
});
