import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect } from 'chai';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import { channels } from '../../server/diagnostics/index.js';
import {
  type Application,
  createGateway,
  type GatewayConfig,
  GatewayError,
  tool,
} from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { CONVENTIONS, CONVENTIONS_VERSION } from '../../server/telemetry/conventions.js';
import { telemetryPlugin } from '../../server/telemetry/index.js';
import { echo, heldApp } from '../support/apps.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { get, post, startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { OtlpReceiver } from './otlp-receiver.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const traceparent = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` };

/** A real SDK that exports to a real receiver. */
async function sdk() {
  const receiver = await OtlpReceiver.start();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }))],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` }),
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  closeLater(manager, async () => {
    context.disable();
    await tracerProvider.shutdown();
    await meterProvider.shutdown();
  });
  const flush = async (): Promise<void> => {
    await tracerProvider.forceFlush();
    await meterProvider.forceFlush();
  };
  return { receiver, tracerProvider, meterProvider, flush };
}

async function serve(config: GatewayConfig<any, any, any>, options: { readonly content?: boolean } = {}) {
  const { receiver, tracerProvider, meterProvider, flush } = await sdk();
  const started = await startGateway(config);
  const ready = new Promise<void>((resolve) => {
    const plugin = telemetryPlugin({ tracerProvider, meterProvider, ...options });
    const { start } = plugin;
    started.gateway.use(
      Object.assign(plugin, {
        start: async () => {
          await start!.call(plugin);
          resolve();
        },
      }),
    );
  });
  await ready;
  return { ...started, receiver, flush, tracerProvider };
}

const seen: (Span | undefined)[] = [];
const looking = {
  tools: {
    look: tool({
      description: 'Looks',
      handler: () => {
        seen.push(trace.getActiveSpan());
        return 'SECRET-seen';
      },
    }),
  },
  async *run(turn: any) {
    seen.push(trace.getActiveSpan());
    turn.usage({ inputTokens: 7, outputTokens: 3 });
    yield String(await turn.callTool('look', {}));
    yield ' SECRET-answer';
  },
};

describe('telemetryPlugin, over a real OTLP receiver', () => {
  it('has the names of the semantic conventions, at their version', () => {
    for (const [name, value] of Object.entries(CONVENTIONS))
      expect((conventions as Record<string, unknown>)[name], name).to.equal(value);
    expect(CONVENTIONS_VERSION).to.equal('1.45.0');
  });

  it('nests the spans of child runs, and of what they store, in those of their parents', async () => {
    const child = (turn: any) => turn.spawn('leaf', { message: 'x', id: 'l', run: () => 'deep' });
    const { url, receiver, flush } = await serve({
      app: {
        async *run(turn: any) {
          const run = async (own: any) => (await child(own).result).text;
          yield (await turn.spawn('branch', { message: 'x', id: 'b', run }).result).text;
        },
      },
    });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'go' }, traceparent);
    await until(() => receiver.spans.some(({ name }) => name === 'invoke_agent default'));
    await flush();
    const [root, branch, leaf] = ['default', 'branch', 'leaf'].map((name) =>
      receiver.span(`invoke_agent ${name}`),
    );
    for (const span of receiver.spans) expect(span.traceId, span.name).to.equal(TRACE_ID);
    expect(branch!.parentSpanId).to.equal(root!.spanId);
    expect(leaf!.parentSpanId).to.equal(branch!.spanId);
    expect(branch!.attributes).to.include({
      'gen_ai.agent.name': 'branch',
      'agent_gateway.run.parent_id': body.runId,
    });
    expect(root!.attributes).to.not.have.property('agent_gateway.run.parent_id');
  });

  it("makes one trace of a send, its run, the run's tools and what it stored, from the caller's span", async () => {
    seen.length = 0;
    const { url, receiver, flush } = await serve({ app: looking });
    const headers = { ...traceparent, 'x-request-id': 'r-1' };
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'SECRET-question' }, headers);
    await until(() => receiver.spans.some(({ name }) => name.startsWith('invoke_agent')));
    await flush();
    const send = receiver.span('send');
    const run = receiver.span('invoke_agent default');
    const call = receiver.span('execute_tool look');
    for (const span of receiver.spans) expect(span.traceId, span.name).to.equal(TRACE_ID);
    expect(send.parentSpanId).to.equal(SPAN_ID);
    expect(run.parentSpanId).to.equal(send.spanId);
    expect(call.parentSpanId).to.equal(run.spanId);
    const appends = receiver.spans.filter(({ name }) => name === 'store append');
    expect(appends).to.not.be.empty;
    for (const { parentSpanId } of appends) expect(parentSpanId).to.equal(run.spanId);
    expect(seen.map((span) => span?.spanContext().spanId)).to.deep.equal([run.spanId, call.spanId]);

    expect(send.kind).to.equal(2);
    expect(send.attributes).to.deep.equal({
      'agent_gateway.operation': 'send',
      'agent_gateway.transport': 'http',
      'agent_gateway.request.id': 'r-1',
      'agent_gateway.session.id': 'main',
      'agent_gateway.run.id': body.runId,
      'agent_gateway.send.repeated': false,
      'user.id': 'token',
    });
    const { 'agent_gateway.run.queued_seconds': queued, ...attributes } = run.attributes;
    expect(queued).to.be.at.least(0);
    expect(attributes).to.deep.equal({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'default',
      'gen_ai.conversation.id': body.cursor.split('.')[0],
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
      'user.id': 'token',
      'agent_gateway.session.id': 'main',
      'agent_gateway.run.id': body.runId,
      'agent_gateway.request.id': 'r-1',
      'agent_gateway.run.resumed': false,
      'agent_gateway.run.stop_reason': 'end',
    });
    expect(run.events.map(({ name }) => name)).to.deep.equal(['first_delta']);
    expect(call.attributes).to.include({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'look',
      'gen_ai.agent.name': 'default',
      'gen_ai.conversation.id': body.cursor.split('.')[0],
    });
    expect(call.attributes['gen_ai.tool.call.id']).to.match(/^call_/);
    expect([...receiver.scopes]).to.deep.equal([
      'agent-session-gateway https://opentelemetry.io/schemas/1.45.0',
    ]);
    expect(receiver.text).to.not.include('SECRET');
  });

  it('links a run that begins once its send was answered, and gives it a trace of its own', async () => {
    const { app, held, began } = heldApp();
    const { url, gateway, receiver, flush } = await serve({ app });
    const ends = new Hearing(gateway, 'run:ended');
    const async = { prefer: 'respond-async' };
    await post(`${url}/send`, { sessionId: 'main', message: 'a' }, async);
    await began.passed;
    const second = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'b' },
      { ...traceparent, ...async },
    );
    await until(() => receiver.spans.filter(({ name }) => name === 'send').length === 2);
    held.open();
    await ends.nth(2);
    await until(() => receiver.spans.filter(({ name }) => name.startsWith('invoke_agent')).length === 2);
    await flush();
    const send = receiver.spans.find(({ traceId }) => traceId === TRACE_ID)!;
    expect(send.name).to.equal('send');
    const run = receiver.spans.find(
      ({ name, attributes }) =>
        name === 'invoke_agent default' && attributes['agent_gateway.run.id'] === second.body.runId,
    )!;
    expect(run.traceId).to.not.equal(TRACE_ID);
    expect(run.parentSpanId ?? '').to.equal('');
    expect(run.links).to.have.length(1);
    expect(run.links[0]).to.include({ traceId: TRACE_ID, spanId: send.spanId });
  });

  it('links a run that another process had begun to the span of the caller who sent it', async () => {
    const { receiver, tracerProvider, meterProvider } = await sdk();
    const path = newDatabase();
    const first = heldApp();
    const one = await startDurable(path, { app: { ...first.app, resumable: true }, limits: { drainMs: 20 } });
    const async = { prefer: 'respond-async' };
    await post(`${one.url}/send`, { sessionId: 'main', message: 'a' }, { ...traceparent, ...async });
    await first.began.passed;
    await one.gateway.close();
    first.held.open();
    const gateway = createGateway({
      embedded: true,
      app: { resumable: true, run: () => 'again' },
      store: sqliteStore({ path }),
      logger: one.log,
      auth: { type: 'token', token: 't'.repeat(32) },
    });
    closeLater(gateway, (it) => it.close());
    gateway.use(telemetryPlugin({ tracerProvider, meterProvider }));
    await gateway.start();
    await until(() => receiver.spans.some(({ name }) => name.startsWith('invoke_agent')));
    const run = receiver.span('invoke_agent default');
    expect(run.attributes['agent_gateway.run.resumed']).to.equal(true);
    expect(run.links[0]).to.include({ traceId: TRACE_ID, spanId: SPAN_ID });
    expect(run.traceId).to.not.equal(TRACE_ID);
  });

  it("is a child of the host's own span where there is one, and the parent of what a method does", async () => {
    const { gateway, receiver, tracerProvider } = await serve({ app: echo, auth: { type: 'none' } });
    const tracer = tracerProvider.getTracer('host');
    await tracer.startActiveSpan('host', async (span) => {
      await gateway.session('main').send('x').result;
      span.end();
    });
    await until(() => receiver.spans.some(({ name }) => name === 'host'));
    const send = receiver.span('send');
    expect(send.parentSpanId).to.equal(receiver.span('host').spanId);
    expect(send.kind, 'internal').to.equal(1);
  });

  it('makes a span of each call of a model within its run, with usage and finish reason, and what was said only where asked', async () => {
    for (const content of [false, true]) {
      const endpoint = await ChatEndpoint.start();
      const app = openaiApp({
        ...{ baseURL: endpoint.url, model: 'tiny', apiKey: 'SECRET-key' },
        ...{ parameters: { temperature: 0.5, max_tokens: 9 }, tools: { look: looking.tools.look } },
      });
      const { url, receiver, flush } = await serve({ app: app as Application }, { content });
      const sent = post(`${url}/send`, { sessionId: 'main', message: 'SECRET-question' }, traceparent);
      (await endpoint.next())
        .chunk({ reasoning_content: 'SECRET-thought' })
        .call('call_1', 'look', {})
        .finish('tool_calls');
      (await endpoint.next()).say('SECRET-answer');
      const { body } = await sent;
      await until(() => receiver.spans.some(({ name }) => name.startsWith('invoke_agent')));
      await flush();
      const run = receiver.span('invoke_agent default');
      const [wanted, said] = receiver.spans.filter(({ name }) => name === 'chat tiny');
      for (const span of [wanted!, said!]) {
        expect(span).to.include({ traceId: TRACE_ID, parentSpanId: run.spanId, kind: 3 });
        expect(span.status.code ?? 0).to.equal(0);
        expect(span.attributes['gen_ai.response.time_to_first_chunk']).to.be.greaterThan(0);
        expect(span.attributes['gen_ai.response.id']).to.match(/^chatcmpl-/);
        expect(span.attributes).to.include({
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'openai',
          'gen_ai.request.model': 'tiny',
          'gen_ai.request.temperature': 0.5,
          'gen_ai.request.max_tokens': 9,
          'gen_ai.response.model': 'tiny',
          'gen_ai.usage.input_tokens': 3,
          'gen_ai.usage.output_tokens': 2,
          'gen_ai.agent.name': 'default',
          'gen_ai.conversation.id': body.cursor.split('.')[0],
          'server.address': '127.0.0.1',
          'server.port': Number(new URL(endpoint.url).port),
          'agent_gateway.session.id': 'main',
          'agent_gateway.run.id': body.runId,
        });
      }
      expect(wanted!.attributes['gen_ai.response.finish_reasons']).to.deep.equal(['tool_calls']);
      expect(said!.attributes['gen_ai.response.finish_reasons']).to.deep.equal(['stop']);
      const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'tiny' };
      for (const [name, type] of [
        ['gen_ai.client.operation.duration'],
        ['gen_ai.client.operation.time_to_first_chunk'],
        ['gen_ai.client.token.usage', 'input'],
        ['gen_ai.client.token.usage', 'output'],
      ] as const) {
        const expected = { ...chat, ...(type && { 'gen_ai.token.type': type }) };
        const point = receiver.metrics
          .get(name)
          ?.points.find((it) =>
            Object.entries(expected).every(([key, value]) => it.attributes[key] === value),
          );
        expect(point?.count, `${name} ${type}`).to.equal(2);
      }
      expect(receiver.text.includes('SECRET')).to.equal(content);
      expect(receiver.text).to.not.include('SECRET-key').and.to.not.include('SECRET-question');
      if (!content) continue;
      const messages = [wanted!, said!].map(({ attributes }) =>
        JSON.parse(String(attributes['gen_ai.output.messages'])),
      );
      expect(messages).to.deep.equal([
        [
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', content: 'SECRET-thought' },
              { type: 'tool_call', id: 'call_1', name: 'look', arguments: {} },
            ],
            finish_reason: 'tool_calls',
          },
        ],
        [
          {
            role: 'assistant',
            parts: [{ type: 'text', content: 'SECRET-answer' }],
            finish_reason: 'stop',
          },
        ],
      ]);
    }
  });

  it('tells of a call of a model that failed, which is an error', async () => {
    const endpoint = await ChatEndpoint.start();
    const app = openaiApp({ baseURL: endpoint.url, model: 'tiny' }) as Application;
    const { url, receiver } = await serve({ app });
    const sent = post(`${url}/send`, { sessionId: 'main', message: 'x' });
    (await endpoint.next()).fail(401, 'SECRET-words');
    await sent;
    await until(() => receiver.spans.some(({ name }) => name.startsWith('invoke_agent')));
    const { attributes, status } = receiver.span('chat tiny');
    expect(attributes).to.include({ 'error.type': 'UPSTREAM_FAILED' });
    expect(status).to.deep.equal({ code: 2, message: 'UPSTREAM_FAILED' });
    expect(receiver.text).to.not.include('SECRET');
  });

  it("tells of errors by code: the gateway's own as errors, the caller's not, and their texts only where asked", async () => {
    const methods = {
      fails: () => {
        throw new Error('SECRET-failure');
      },
    };
    for (const content of [false, true]) {
      const { url, receiver } = await serve({ app: looking, methods }, { content });
      await post(`${url}/invoke`, { method: 'fails' });
      await get(`${url}/history?sessionId=none`);
      await post(`${url}/send`, { sessionId: 'main', message: 'x' });
      await until(() => receiver.spans.some(({ name }) => name.startsWith('invoke_agent')));
      const failed = receiver.span('invoke fails');
      expect(failed.attributes).to.include({ 'error.type': 'INTERNAL', 'rpc.method': 'fails' });
      expect(failed.status).to.deep.equal({ code: 2, message: 'INTERNAL' });
      const refused = receiver.span('history');
      expect(refused.attributes).to.include({ 'error.type': 'SESSION_NOT_FOUND' });
      expect(refused.status.code).to.be.oneOf([0, undefined]);
      const texts = ['SECRET-failure', 'SECRET-seen', 'SECRET-answer'].map((it) =>
        receiver.text.includes(it),
      );
      expect(texts).to.deep.equal([content, content, content]);
      if (!content) continue;
      const said = JSON.parse(
        String(receiver.span('invoke_agent default').attributes['gen_ai.output.messages']),
      );
      expect(JSON.stringify(said[0].content)).to.include('SECRET-answer');
    }
  });

  it('measures runs, tools, tokens, operations and the store, and what is on its hands', async () => {
    const methods = {
      limited: () => {
        throw new GatewayError({ code: `TENANT_${Math.random()}`, status: 409 });
      },
    };
    const { url, receiver, flush } = await serve({ app: looking, methods });
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    for (let i = 0; i < 2; i++) await post(`${url}/invoke`, { method: 'limited' });
    await until(() => receiver.spans.some(({ name }) => name.startsWith('invoke_agent')));
    await flush();
    const point = (name: string, attributes: object) =>
      receiver.metrics
        .get(name)
        ?.points.find((it) =>
          Object.entries(attributes).every(([key, value]) => it.attributes[key] === value),
        );
    const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'default' };
    const run = point('gen_ai.client.operation.duration', agent);
    expect(run?.count).to.equal(1);
    expect(run?.sum).to.be.within(0, 60);
    expect(
      point('gen_ai.client.operation.duration', { 'gen_ai.operation.name': 'execute_tool' })?.count,
    ).to.equal(1);
    expect(point('gen_ai.client.token.usage', { ...agent, 'gen_ai.token.type': 'input' })?.sum).to.equal(7);
    expect(point('gen_ai.client.token.usage', { ...agent, 'gen_ai.token.type': 'output' })?.sum).to.equal(3);
    expect(point('agent_gateway.operation_duration', { operation: 'send' })?.count).to.equal(1);
    expect(point('agent_gateway.send_to_first_delta', { app: 'default' })?.count).to.equal(1);
    expect(point('agent_gateway.refusals', { code: 'OTHER' })?.value).to.equal(2);
    expect(point('agent_gateway.refusals', { code: 'OVERLOADED' })?.value).to.equal(0);
    expect(point('agent_gateway.store_append_duration', {})?.count).to.be.greaterThan(1);
    expect(point('agent_gateway.runs', { app: 'default', state: 'active' })?.value).to.equal(0);
    expect(point('agent_gateway.unready', { reason: 'store-full' })?.value).to.equal(0);
    expect(receiver.metrics.get('agent_gateway.operation_duration')?.unit).to.equal('s');
    expect(receiver.metrics.get('agent_gateway.unread')?.unit).to.equal('By');
    expect(receiver.metrics.get('gen_ai.client.operation.duration')?.unit).to.equal('s');
    expect(receiver.metrics.get('gen_ai.client.token.usage')?.unit).to.equal('{token}');
    const ids = [...receiver.metrics.values()].flatMap(({ points }) =>
      points.flatMap(({ attributes }) => Object.values(attributes)),
    );
    expect(ids.filter((value) => /^(run|msg|call|req|conn|gw)_|^main$/.test(String(value)))).to.deep.equal(
      [],
    );
  });

  it('listens no more once the gateway has closed, and tells of no other gateway', async () => {
    const before = channels.run.hasSubscribers;
    const { gateway, receiver, flush } = await serve({ app: echo });
    const other = await startGateway({ app: echo });
    await post(`${other.url}/send`, { sessionId: 'main', message: 'x' });
    await flush();
    expect(receiver.spans).to.deep.equal([]);
    expect(channels.run.hasSubscribers).to.equal(true);
    await gateway.close();
    expect(channels.run.hasSubscribers).to.equal(before);
  });
});
