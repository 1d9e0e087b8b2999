import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { channels, type RunMessage } from '../../server/diagnostics/index.js';
import { defineApp, GatewayError, method, tool } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { hear } from '../support/tracing.js';

const TRACE_ID = 'a'.repeat(32);
const SPAN_ID = 'b'.repeat(16);
const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
const respondAsync = { prefer: 'respond-async' };
const parentSpan = { traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1 };
const isRun = (runId: string) => (message: RunMessage) => message.runId === runId;

describe('the channel of runs', () => {
  it('tells of a run from its start to its end, with the trace of its send', async () => {
    const { gateway, url } = await startGateway({ apps: { main: echo }, defaultApp: 'main' });
    const ear = hear(channels.run);
    const { body } = await post(
      `${url}/send`,
      { sessionId: 'one', message: 'x' },
      {
        traceparent,
        'x-request-id': 'r1',
      },
    );
    const { message, events } = await ear.over();
    expect(events).to.deep.equal(['start', 'end', 'asyncStart', 'asyncEnd']);
    const { result, user, queuedMs, firstDeltaMs, trace, ms, ...rest } = message;
    expect(rest).to.deep.equal({
      ...{ gatewayId: gateway.id, sessionId: 'one', app: 'main', runId: body.runId },
      ...{ epoch: body.cursor.split('.')[0], started: true, resumed: false, requestId: 'r1' },
    });
    expect(trace).to.deep.equal({ traceId: TRACE_ID, parentSpan });
    expect(user?.id).to.equal('token');
    expect(result).to.include({ stopReason: 'end', runId: body.runId });
    expect(queuedMs).to.be.at.least(0);
    expect(firstDeltaMs).to.be.at.least(0);
    expect(ms).to.be.at.least(firstDeltaMs!);
  });

  it('has the error that an app failed with', async () => {
    const { url } = await startGateway({
      apps: {
        bad: defineApp({
          run() {
            throw new TypeError('inner');
          },
        }),
        coded: defineApp({
          async *run() {
            yield 'a bit';
            throw new GatewayError({ code: 'UPSTREAM_FAILED' });
          },
        }),
        slow: defineApp({ run: () => new Promise<never>(() => {}) }),
      },
      defaultApp: 'bad',
      limits: { runMs: 20 },
    });
    const ear = hear(channels.run);
    for (const [app, code, stopReason] of [
      ['bad', 'INTERNAL', 'error'],
      ['coded', 'UPSTREAM_FAILED', 'error'],
      ['slow', 'TIMEOUT', 'timeout'],
    ]) {
      await post(`${url}/send`, { sessionId: `${app}:one`, message: 'x' });
      const { message, events } = await ear.over((run) => run.app === app);
      expect(events).to.deep.equal(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
      expect(message.code).to.equal(code);
      expect(message.result?.stopReason).to.equal(stopReason);
      if (app === 'bad') expect(message.error).to.be.instanceOf(TypeError);
    }
  });

  it('tells of runs that end in the queue, all at once', async () => {
    const { app, held, began } = heldApp();
    const { url } = await startGateway({ app });
    const ear = hear(channels.run);
    await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await began.passed;
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'y' }, respondAsync);
    await post(`${url}/abort`, { sessionId: 'main', runId: body.runId });
    const { message, events } = await ear.over(isRun(body.runId));
    expect(events).to.deep.equal(['start', 'end']);
    expect(message).to.include({ started: false });
    expect(message.result?.stopReason).to.equal('aborted');
    held.open();
    const first = await ear.over((run) => run.started);
    expect(first.message.result?.stopReason).to.equal('end');
  });

  it('runs the app, and what it is told later, with the stores that are bound', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const began = gate();
    const { url } = await startGateway({
      app: defineApp({
        async *run(turn) {
          turn.signal.addEventListener('abort', () => seen.push(['abort', storage.getStore()]));
          yield 'one';
          seen.push(['run', storage.getStore()]);
          began.open();
          await new Promise(() => {});
        },
      }),
    });
    channels.run.start.bindStore(storage, ({ runId }) => runId);
    closeLater(storage, (it) => channels.run.start.unbindStore(it));
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await began.passed;
    await post(`${url}/abort`, { sessionId: 'main' });
    expect(seen).to.deep.equal([
      ['run', body.runId],
      ['abort', body.runId],
    ]);
  });

  it('keeps the trace of a call for the messages that its handler sends', async () => {
    const config = {
      app: echo,
      methods: {
        ask: method({ handler: async () => (await gateway.session('main').send('x').result).runId }),
      },
    };
    const { gateway, url } = await startGateway(config as never);
    const ear = hear(channels.run);
    const { body } = await post(`${url}/invoke`, { method: 'ask' }, { traceparent, 'x-request-id': 'r1' });
    const { message } = await ear.over(isRun(body));
    expect(message.trace).to.deep.equal({ traceId: TRACE_ID, parentSpan });
    expect(message.requestId).to.equal('r1');
  });

  it('tells after a crash of what was lost, and of what goes on with the trace it had', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: heldApp().app });
    const send = (message: string) =>
      post(`${first.url}/send`, { sessionId: 'main', message }, { ...respondAsync, traceparent });
    const { body: active } = await send('x');
    const stream = await openStream(`${first.url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
    await stream.until(({ event }) => event === 'content_delta');
    const { body: queued } = await send('y');
    const copy = crashed(path);

    const ear = hear(channels.run);
    const second = await startDurable(copy, { app: echo });
    const mine = ({ gatewayId }: RunMessage) => gatewayId === second.gateway.id;
    const lost = await ear.over((run) => mine(run) && run.runId === active.runId);
    expect(lost.message).to.include({ started: false, resumed: true });
    expect(lost.message.result?.stopReason).to.equal('lost');
    expect(lost.message.trace).to.deep.equal({ traceId: TRACE_ID, parentSpan });
    const next = await ear.over((run) => mine(run) && run.runId === queued.runId);
    expect(next.message).to.include({ started: true, resumed: false });
    expect(next.message.trace).to.deep.equal({ traceId: TRACE_ID, parentSpan });
  });

  it('tells of a run that is handed on to the next process', async () => {
    const { app } = heldApp();
    const { gateway, url } = await startDurable(newDatabase(), {
      app: { ...app, resumable: true },
      limits: { drainMs: 0 },
    });
    const ear = hear(channels.run);
    await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await gateway.close();
    const { message, events } = await ear.over();
    expect(events).to.include('error');
    expect(message.code).to.equal('SHUTTING_DOWN');
    expect(message).to.not.have.property('result');
  });
});

describe('the channel of tools', () => {
  const tools = {
    double: tool({ handler: async (n) => Number(n) * 2 }),
    broken: tool({
      handler: () => {
        throw new TypeError('inner');
      },
    }),
    erase: tool({ confirm: true, handler: () => 'erased' }),
  };

  it('tells of calls in a run, with its id and their own', async () => {
    const { gateway, url } = await startGateway({
      app: defineApp({
        tools,
        async *run(turn) {
          yield String(await turn.callTool('double', 4));
          await turn.callTool('broken', null).catch(() => {});
        },
      }),
    });
    const ear = hear(channels.tool);
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    const [use] = body.message.content.filter(({ type }: { type: string }) => type === 'tool_use');
    const double = await ear.over(({ tool: name }) => name === 'double');
    const { user, ms, ...rest } = double.message;
    expect(ms).to.be.above(0);
    expect(rest).to.deep.equal({
      ...{ gatewayId: gateway.id, sessionId: 'main', app: 'default', epoch: body.cursor.split('.')[0] },
      ...{ runId: body.runId, callId: use.callId, tool: 'double', result: 8 },
    });
    expect(user?.id).to.equal('token');
    const broken = await ear.over(({ tool: name }) => name === 'broken');
    expect(broken.events).to.include('error');
    expect(broken.message.code).to.equal('INTERNAL');
    expect((broken.message.error as Error).cause).to.be.instanceOf(TypeError);
  });

  it('tells of a call that the end of its run cut off, and of one that a person denied', async () => {
    const { url } = await startGateway({
      app: defineApp({
        tools,
        async *run(turn) {
          await turn.callTool('erase', null);
          yield 'never';
        },
      }),
    });
    const ear = hear(channels.tool);
    const asked = async () => {
      const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      const stream = await openStream(`${url}/events?sessionId=main&from=run&token=${TOKEN}`);
      const { data } = await stream.until(({ event }) => event === 'tool_confirmation_required');
      return { runId: body.runId as string, callId: data.callId as string };
    };
    const first = await asked();
    await post(`${url}/abort`, { sessionId: 'main' });
    const cut = await ear.over(({ runId }) => runId === first.runId);
    expect(cut.message.code).to.equal('ABORTED');
    const second = await asked();
    await post(`${url}/tool-response`, { sessionId: 'main', callId: second.callId, approved: false });
    const denied = await ear.over(({ runId }) => runId === second.runId);
    expect(denied.message.code).to.equal('ACCESS_DENIED');
  });
});
