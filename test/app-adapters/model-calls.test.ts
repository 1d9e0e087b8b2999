import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Anthropic } from '@anthropic-ai/sdk';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { OpenAIProvider, Runner } from '@openai/agents';
import { streamText, ToolLoopAgent } from 'ai';
import { expect } from 'chai';
import { agentsApp } from '../../server/app-adapters/agents/index.js';
import { aiSdkApp } from '../../server/app-adapters/ai-sdk/index.js';
import { anthropicApp } from '../../server/app-adapters/anthropic/index.js';
import { langGraphApp } from '../../server/app-adapters/langgraph/index.js';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import { channels, type ModelMessage, type TraceHandlers } from '../../server/diagnostics/index.js';
import { type Application, tool } from '../../server/index.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { agent, openai, runner } from './agents/agents.js';
import { chatModel } from './langgraph/graphs.js';
import { serve } from './served.js';

const aiModel = (endpoint: ChatEndpoint, name = 'tiny') =>
  createOpenAICompatible({ name: 'tiny-provider', baseURL: endpoint.url, includeUsage: true })(name);

function graphApp(endpoint: ChatEndpoint): Application {
  const model = chatModel(endpoint, { temperature: 0.5 });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
    .addEdge('__start__', 'agent')
    .addEdge('agent', '__end__')
    .compile();
  return langGraphApp({ graph }) as Application;
}

interface Adapter {
  readonly adapter: string;
  readonly provider: string;
  readonly server?: boolean;
  /** Whether it can say which model it asks before that has answered. */
  readonly named?: boolean;
  /** Why its model stops, in the words of the endpoint. @default stop */
  readonly stops?: string;
  app(endpoint: ChatEndpoint): Application;
}

const ADAPTERS: Readonly<Record<string, Adapter>> = {
  openaiApp: {
    ...{ adapter: 'openai', provider: 'openai', server: true },
    app: (endpoint) =>
      openaiApp({
        ...{ client: openai(endpoint), model: 'tiny', parameters: { temperature: 0.5 } },
      }) as Application,
  },
  'openaiApp, resumable': {
    ...{ adapter: 'openai', provider: 'openai', server: true },
    app: (endpoint) =>
      openaiApp({
        ...{ client: openai(endpoint), model: 'tiny', parameters: { temperature: 0.5 }, resumable: true },
      }) as Application,
  },
  anthropicApp: {
    ...{ adapter: 'anthropic', provider: 'anthropic', server: true, stops: 'end_turn' },
    app: ({ origin }) => {
      const client = new Anthropic({ baseURL: origin, apiKey: 'none', maxRetries: 0 });
      return anthropicApp({ client, model: 'tiny', parameters: { temperature: 0.5 } }) as Application;
    },
  },
  aiSdkApp: {
    ...{ adapter: 'ai-sdk', provider: 'tiny-provider' },
    app: (endpoint) => aiSdkApp({ model: aiModel(endpoint), temperature: 0.5, maxRetries: 0 }) as Application,
  },
  'aiSdkApp, resumable': {
    ...{ adapter: 'ai-sdk', provider: 'tiny-provider' },
    app: (endpoint) =>
      aiSdkApp(
        { model: aiModel(endpoint), temperature: 0.5, maxRetries: 0 },
        { resumable: true },
      ) as Application,
  },
  'aiSdkApp with an agent': {
    ...{ adapter: 'ai-sdk', provider: 'tiny-provider' },
    app: (endpoint) =>
      aiSdkApp(
        new ToolLoopAgent({ model: aiModel(endpoint), temperature: 0.5, maxRetries: 0 }),
      ) as Application,
  },
  'aiSdkApp with a function': {
    ...{ adapter: 'ai-sdk', provider: 'tiny-provider' },
    app: (endpoint) =>
      aiSdkApp((turn, messages, _tools, durable) =>
        streamText({
          ...{ model: durable.model(aiModel(endpoint)), messages, temperature: 0.5, maxRetries: 0 },
          ...{ abortSignal: turn.signal, onError: () => {} },
        }),
      ) as Application,
  },
  agentsApp: {
    ...{ adapter: 'agents', provider: 'openai' },
    named: false,
    app: (endpoint) =>
      agentsApp({ agent: agent(endpoint, { modelSettings: { temperature: 0.5 } }), runner }) as Application,
  },
  'agentsApp with a model of its provider': {
    ...{ adapter: 'agents', provider: 'openai' },
    app: (endpoint) =>
      agentsApp({
        agent: agent(endpoint, { model: 'tiny', modelSettings: { temperature: 0.5 } }),
        runner: new Runner({
          tracingDisabled: true,
          modelProvider: new OpenAIProvider({ openAIClient: openai(endpoint), useResponses: false }),
        }),
      }) as Application,
  },
  langGraphApp: { ...{ adapter: 'langgraph', provider: 'openai' }, app: graphApp },
};

/** What is told of calls of models, and when. */
function listen() {
  const began: ModelMessage[] = [];
  const over: ModelMessage[] = [];
  const handlers: TraceHandlers<ModelMessage> = {
    start: (message) => void began.push(message),
    end: (message) => {
      if ('result' in message || 'error' in message) over.push(message);
    },
    asyncEnd: (message) => void over.push(message),
  };
  channels.model.subscribe(handlers);
  closeLater(handlers, (it) => void channels.model.unsubscribe(it));
  return { began, over };
}

describe('calls of models', () => {
  for (const [name, { adapter, provider, server, named = true, stops = 'stop', app }] of Object.entries(
    ADAPTERS,
  )) {
    it(`that ${name} makes are told of, with what was asked for and what was answered`, async () => {
      const { began, over } = listen();
      const endpoint = await ChatEndpoint.start();
      const { client, gateway } = await serve(app(endpoint));
      const run = client.send('main', 'Hello');
      const request = await endpoint.next();
      expect(began, 'before the request').to.have.length(1);
      expect(over).to.deep.equal([]);
      request.text('Hi ').text('there').finish();
      const { message } = await run.result;
      const { runId } = await run.accepted;
      await until(() => over.length === 1);
      const [told] = over;
      expect(told).to.equal(began[0]);
      expect(told).to.include({ gatewayId: gateway.id, sessionId: 'main', app: 'default', runId, adapter });
      expect(told).to.include({ provider, model: named ? 'tiny' : undefined });
      expect(told!.user).to.include({ id: 'token' });
      expect(told!.epoch).to.be.a('string').and.to.not.equal('');
      expect(told!.settings.temperature).to.equal(0.5);
      if (server)
        expect(told!.server).to.deep.equal({
          address: '127.0.0.1',
          port: Number(new URL(endpoint.url).port),
        });
      expect(told!.firstDeltaMs).to.be.greaterThan(0);
      const { result } = told!;
      expect(result!.usage).to.include({ inputTokens: 3, outputTokens: 2 });
      expect(result!.finishReasons).to.deep.equal([stops]);
      expect(result!.content).to.deep.equal(message.content);
      expect(result!.model).to.equal('tiny');
      expect(result!.id).to.match(/^(chatcmpl-|run-|msg_)/);
    });

    it(`that ${name} makes and that fail are told of with a code`, async () => {
      const { over } = listen();
      const endpoint = await ChatEndpoint.start();
      const { client } = await serve(app(endpoint));
      for (const fail of [(asked: any) => asked.fail(401, 'no'), (asked: any) => asked.text('Well').cut()]) {
        over.length = 0;
        const run = client.send('main', 'Hello');
        fail(await endpoint.next());
        expect((await run.result).stopReason).to.equal('error');
        await until(() => over.length === 1);
        expect(over[0]).to.include({ code: 'UPSTREAM_FAILED' });
        expect(over[0]).to.not.have.property('result');
      }
    });

    it(`that ${name} makes end with the run that is aborted`, async () => {
      const { over } = listen();
      const endpoint = await ChatEndpoint.start();
      const { client } = await serve(app(endpoint));
      const run = client.send('main', 'Hello');
      const asked = await endpoint.next();
      asked.text('Well, ');
      await run.text[Symbol.asyncIterator]().next();
      await run.abort();
      await until(() => over.length === 1);
      expect(over[0]!.code).to.equal('ABORTED');
      await asked.closed;
      expect(over).to.have.length(1);
    });
  }

  for (const [name, appOf] of Object.entries({
    openaiApp: (endpoint: ChatEndpoint) =>
      openaiApp({ baseURL: endpoint.url, model: 'tiny', models: ['small'] }),
    anthropicApp: ({ origin }: ChatEndpoint) =>
      anthropicApp({ baseURL: origin, model: 'tiny', models: ['small'] }),
    aiSdkApp: (endpoint: ChatEndpoint) =>
      aiSdkApp({ model: aiModel(endpoint), maxRetries: 0 }, { models: [aiModel(endpoint, 'small')] }),
    agentsApp: (endpoint: ChatEndpoint) =>
      agentsApp({
        agent: agent(endpoint, { model: 'tiny' }),
        models: ['small'],
        runner: new Runner({
          tracingDisabled: true,
          modelProvider: new OpenAIProvider({ openAIClient: openai(endpoint), useResponses: false }),
        }),
      }),
  }))
    it(`are one of each model where that of ${name} breaks off and the next one answers`, async () => {
      const { began, over } = listen();
      const endpoint = await ChatEndpoint.start();
      const { client } = await serve(appOf(endpoint) as Application);
      const run = client.send('main', 'Hello');
      const first = await endpoint.next(1);
      first.text('Half');
      await run.text[Symbol.asyncIterator]().next();
      first.cut();
      (await endpoint.next(2)).text('Whole').finish();
      await run.result;
      await until(() => over.length === 2);
      expect(began).to.have.length(2);
      expect(over[0]).to.include({ code: 'UPSTREAM_FAILED' }).and.not.have.property('result');
      expect(over[1]!.model).to.equal('small');
      expect(over[1]!.result!.content).to.deep.equal([{ type: 'text', text: 'Whole' }]);
    });

  it('are one for each time that a model is asked, with the calls of tools that it wants', async () => {
    const { over } = listen();
    const look = tool({ description: 'Looks', handler: () => 'seen' });
    for (const make of [
      ({ url }: ChatEndpoint) => openaiApp({ baseURL: url, model: 'tiny', tools: { look } }),
      (endpoint: ChatEndpoint) => aiSdkApp({ model: aiModel(endpoint) }, { tools: { look } }),
      (endpoint: ChatEndpoint) => agentsApp({ agent: agent(endpoint), runner, tools: { look } }),
    ]) {
      over.length = 0;
      const endpoint = await ChatEndpoint.start();
      const { client } = await serve(make(endpoint) as Application);
      const run = client.send('main', 'Hello');
      (await endpoint.next()).call('call_1', 'look', {}).finish('tool_calls');
      (await endpoint.next()).say('done');
      expect((await run.result).stopReason).to.equal('end');
      await until(() => over.length === 2);
      expect(over.map(({ result }) => result!.content)).to.deep.equal([
        [{ type: 'tool_use', callId: 'call_1', name: 'look', input: {} }],
        [{ type: 'text', text: 'done' }],
      ]);
      const [wanted] = over[0]!.result!.finishReasons;
      expect(wanted).to.match(/^tool.calls$/);
    }
  });
});
