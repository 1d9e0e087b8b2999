import { expect } from 'chai';
import { Counter, Registry } from 'prom-client';
import { createGateway, GatewayError, memoryStore, method, tool } from '../../../server/index.js';
import { metricsPlugin } from '../../../server/plugins/metrics/index.js';
import { StoreError } from '../../../server/stores/index.js';
import { echo, heldApp } from '../../support/apps.js';
import { get, jsonHeaders, post, startGateway, TestLogger } from '../../support/gateway.js';
import { listenOnLoopback } from '../../support/host-server.js';
import { openWebSocket } from '../../support/raw-socket.js';
import { closeLater } from '../../support/resources.js';
import { openStream } from '../../support/sse-client.js';
import { until } from '../../support/until.js';
import { METRICS_TOKEN, MetricsPage } from './page.js';

const serve = async (
  config: Parameters<typeof startGateway>[0],
  options: Parameters<typeof metricsPlugin>[0] = { token: METRICS_TOKEN },
) => {
  const started = await startGateway(config);
  started.gateway.use(metricsPlugin(options));
  const scrape = () => MetricsPage.scrape(started.url);
  // It listens once it has loaded its package.
  if ('token' in options && options.token === METRICS_TOKEN) await scrape();
  return { ...started, scrape };
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('metricsPlugin', () => {
  it('counts and times runs, sends and what they stored, by app and stop reason', async () => {
    const { url, scrape } = await serve({
      apps: {
        echo,
        broken: {
          // biome-ignore lint/correctness/useYield: it fails first
          async *run() {
            throw new Error('no');
          },
        },
        counted: {
          async *run(turn) {
            turn.usage({ inputTokens: 7, outputTokens: 3 });
            yield 'x';
          },
        },
      },
      defaultApp: 'echo',
    });
    const key = { sessionId: 'main', message: 'hi', idempotencyKey: 'k' };
    await post(`${url}/send`, key);
    await post(`${url}/send`, key);
    await post(`${url}/send`, { sessionId: 'broken:main', message: 'hi' });
    await post(`${url}/send`, { sessionId: 'counted:main', message: 'hi' });
    const page = await scrape();
    expect(page.value('agent_gateway_runs_ended_total', { app: 'echo', stop_reason: 'end' })).to.equal(1);
    expect(page.value('agent_gateway_runs_ended_total', { app: 'broken', stop_reason: 'error' })).to.equal(1);
    for (const name of ['run_duration_seconds', 'run_queue_seconds', 'send_to_first_delta_seconds']) {
      expect(page.value(`agent_gateway_${name}`, { app: 'echo' }), name).to.equal(1);
      expect(page.sum(`agent_gateway_${name}`, { app: 'echo' }), name).to.be.within(0, 30);
    }
    expect(page.value('agent_gateway_send_to_first_delta_seconds', { app: 'broken' })).to.equal(undefined);
    expect(page.value('agent_gateway_idempotent_replays_total')).to.equal(1);
    expect(
      page.value('agent_gateway_operations_total', { operation: 'send', transport: 'http', code: 'ok' }),
    ).to.equal(4);
    expect(page.value('agent_gateway_operation_duration_seconds', { operation: 'send' })).to.equal(4);
    expect(page.value('agent_gateway_tokens_total', { app: 'counted', type: 'input' })).to.equal(7);
    expect(page.value('agent_gateway_tokens_total', { app: 'counted', type: 'output' })).to.equal(3);
    const batches = page.value('agent_gateway_store_append_events')!;
    expect(batches)
      .to.be.greaterThan(2)
      .and.to.equal(page.value('agent_gateway_store_append_duration_seconds'));
    expect(page.sum('agent_gateway_store_append_events')!).to.be.at.least(10);
    expect(page.value('agent_gateway_store_append_bytes_total')).to.be.greaterThan(500);
  });

  it('tells what is open, delivered and resumed, and which readers were too slow', async () => {
    const { app, held, began } = heldApp();
    const { gateway, url, scrape } = await serve({ app, limits: { slowClientMs: 300 } });
    const headers = jsonHeaders();
    const stream = await openStream(`${url}/events?sessionId=main`, { headers });
    await stream.until(({ event }) => event === 'connected');
    const socket = await openWebSocket(url);
    await socket.connect({ subscribe: [{ sessionId: 'main', cursor: 'malformed' }] });
    const sent = post(`${url}/send`, { sessionId: 'main', message: 'a' });
    await began.passed;
    const queued = post(`${url}/send`, { sessionId: 'main', message: 'b' });
    await until(() => gateway.stats().runs.queued === 1);
    const page = await scrape();
    expect(page.value('agent_gateway_connections', { transport: 'sse' })).to.equal(1);
    expect(page.value('agent_gateway_connections', { transport: 'websocket' })).to.equal(1);
    expect(page.value('agent_gateway_subscriptions')).to.equal(2);
    expect(page.value('agent_gateway_sessions_live')).to.equal(1);
    expect(page.value('agent_gateway_runs', { app: 'default', state: 'active' })).to.equal(1);
    expect(page.value('agent_gateway_runs', { app: 'default', state: 'queued' })).to.equal(1);
    expect(page.value('agent_gateway_store_open')).to.equal(1);
    expect(page.value('agent_gateway_draining')).to.equal(0);
    held.open();
    await Promise.all([sent, queued]);
    await until(() => stream.logged.filter(({ event }) => event === 'message_end').length === 2);
    socket.destroy();
    stream.close();
    await until(() => gateway.stats().connections.open === 0);
    const after = await scrape();
    const delivered = after.value('agent_gateway_delivered_events_total')!;
    expect(delivered).to.be.at.least(stream.logged.length);
    expect(after.value('agent_gateway_delivered_bytes_total')).to.be.greaterThan(delivered * 20);
    expect(after.value('agent_gateway_resumes_total', { kind: 'new' })).to.equal(1);
    expect(after.value('agent_gateway_resumes_total', { kind: 'gap' })).to.equal(1);
    expect(after.value('agent_gateway_gaps_total', { reason: 'malformed' })).to.equal(1);
    expect(after.value('agent_gateway_connections', { transport: 'sse' })).to.equal(0);
    expect(
      after.value('agent_gateway_connections_ended_total', { transport: 'sse', reason: 'left' }),
    ).to.equal(1);
    const slow = await openWebSocket(url);
    await slow.connect({ subscribe: [{ sessionId: 'main' }] });
    slow.pause();
    const text = 'x'.repeat(900_000);
    while (gateway.stats().connections.blocked === 0)
      await gateway.session('main', { user: { id: 'token' } }).send(text).result;
    await until(() => gateway.stats().connections.open === 0);
    expect(
      (await scrape()).value('agent_gateway_connections_ended_total', {
        transport: 'websocket',
        reason: 'slow',
      }),
    ).to.equal(1);
  });

  it('counts refusals by code, before and in an operation; codes that a host makes up are one', async () => {
    const methods = {
      limited: method({
        handler: async () => {
          throw new GatewayError({ code: `TENANT_${Math.random()}`, status: 409 });
        },
      }),
      fine: async () => 1,
    };
    const { url, scrape } = await serve({ app: echo, methods });
    for (let i = 0; i < 3; i++) await post(`${url}/invoke`, { method: 'limited' });
    await post(`${url}/invoke`, { method: 'fine' });
    await post(`${url}/invoke`, { method: 'nothing' });
    await post(`${url}/send`, { sessionId: 'nobody:main', message: 'x' });
    await get(`${url}/apps`, bearer('wrong'));
    await get(`${url}/apps`, { origin: 'https://evil.example' });
    const page = await scrape();
    const refused = (code: string) => page.value('agent_gateway_refusals_total', { code });
    expect(refused('OTHER')).to.equal(3);
    expect(refused('METHOD_NOT_FOUND')).to.equal(1);
    expect(refused('APP_NOT_FOUND')).to.equal(1);
    expect(refused('UNAUTHENTICATED')).to.equal(1);
    expect(refused('ORIGIN_DENIED')).to.equal(1);
    const calls = (name: string, code: string) =>
      page.value('agent_gateway_method_calls_total', { method: name, code });
    expect([calls('limited', 'OTHER'), calls('fine', 'ok')]).to.deep.equal([3, 1]);
    expect(page.labelsOf('agent_gateway_method_calls_total')).to.have.members(['method', 'code']);
  });

  it('counts tools, and batches that the store did not take', async () => {
    let refuse = false;
    const inner = memoryStore();
    const { append } = inner;
    const store = Object.assign(inner, {
      append: (...given: Parameters<typeof append>) => {
        if (!refuse) return append.apply(inner, given);
        refuse = false;
        throw new StoreError('UNAVAILABLE', 'not now');
      },
    });
    const { url, scrape } = await serve({
      store,
      app: {
        tools: { look: tool({ description: 'Looks', handler: () => 'seen' }) },
        async *run(turn) {
          yield String(await turn.callTool('look', {}));
          refuse = true;
          yield 'more';
        },
      },
    });
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    const page = await scrape();
    expect(page.value('agent_gateway_tool_calls_total', { app: 'default', code: 'ok' })).to.equal(1);
    expect(page.value('agent_gateway_tool_duration_seconds', { app: 'default' })).to.equal(1);
    expect(page.value('agent_gateway_store_append_errors_total', { code: 'UNAVAILABLE' })).to.equal(1);
  });

  it('has no ids, users, texts or names from outside among its labels', async () => {
    const { url, scrape } = await serve({ app: echo });
    const planted = ['Qsession7', 'Qmessage7', 'Qmethod7', 'Qkey7', 'Qrequest7'] as const;
    const [sessionId, message, name, idempotencyKey, request] = planted;
    await post(`${url}/send`, { sessionId, message, idempotencyKey }, { 'x-request-id': request });
    await post(`${url}/invoke`, { method: name });
    await openStream(`${url}/events?sessionId=${sessionId}`, { headers: jsonHeaders() });
    const { text } = await scrape();
    for (const value of planted) expect(text).to.not.include(value);
    expect(text).to.not.match(/"(?:run|msg|conn|gw|req)_/);
  });

  it('tells of the process too, with event loop lag and memory, and of the host where that has a registry', async () => {
    const { scrape } = await serve({ app: echo });
    const { families } = await scrape();
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
      expect(families.has(name), name).to.equal(true);
    const registry = new Registry();
    new Counter({ name: 'host_orders_total', help: 'Orders', registers: [registry] }).inc(3);
    const host = await serve({ app: echo }, { token: METRICS_TOKEN, registry });
    const page = await host.scrape();
    expect(page.value('host_orders_total')).to.equal(3);
    expect(page.families.has('process_resident_memory_bytes')).to.equal(false);
  });

  it('keeps two gateways of a process apart', async () => {
    const [one, other] = [await serve({ app: echo }), await serve({ app: echo })];
    await post(`${one.url}/send`, { sessionId: 'main', message: 'hi' });
    const ended = { app: 'default', stop_reason: 'end' };
    expect((await one.scrape()).value('agent_gateway_runs_ended_total', ended)).to.equal(1);
    expect((await other.scrape()).value('agent_gateway_runs_ended_total', ended)).to.equal(undefined);
  });

  it('is told nothing more once the gateway has closed', async () => {
    const { channels } = await import('../../../server/diagnostics/index.js');
    const before = channels.operation.hasSubscribers;
    const { gateway } = await serve({ app: echo });
    expect(channels.operation.hasSubscribers).to.equal(true);
    await gateway.close();
    expect(channels.operation.hasSubscribers).to.equal(before);
  });

  it('answers while the store cannot be opened', async () => {
    const store = Object.assign(memoryStore(), {
      open: () => {
        throw new Error('no disk');
      },
    });
    const gateway = createGateway({ app: echo, embedded: true, store, logger: new TestLogger() });
    closeLater(gateway, (it) => it.close());
    gateway.use(metricsPlugin({ token: METRICS_TOKEN }));
    const url = await listenOnLoopback((request, response) => gateway.handleRequest(request, response));
    expect((await get(`${url}/readyz`)).status).to.equal(503);
    expect((await MetricsPage.scrape(url)).value('agent_gateway_store_open')).to.equal(0);
  });
});

describe('access to metrics', () => {
  const status = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/metrics`, { headers })).status;

  it('is by a token of its own, of which several may be good; a token of users opens nothing', async () => {
    const other = 'another-token-for-metrics-of-32-bytes-too';
    const { url } = await serve({ app: echo }, { token: [METRICS_TOKEN, other] });
    expect(await status(url, bearer(METRICS_TOKEN))).to.equal(200);
    expect(await status(url, bearer(other))).to.equal(200);
    expect(await status(url, jsonHeaders())).to.equal(401);
    expect(await status(url)).to.equal(401);
    expect((await get(`${url}/apps`, bearer(METRICS_TOKEN))).status).to.equal(401);
  });

  it('is by address or network; elsewhere there is no such page', async () => {
    const near = await serve({ app: echo }, { addresses: ['127.0.0.0/8', '::1'] });
    expect(await status(near.url)).to.equal(200);
    const far = await serve({ app: echo }, { addresses: ['10.0.0.0/8'] });
    expect(await status(far.url)).to.equal(404);
  });

  it('is by the address that a trusted proxy tells, and by both where both are given', async () => {
    const { url } = await serve(
      { app: echo, trustProxy: 1 },
      { addresses: ['10.0.0.0/8'], token: METRICS_TOKEN.repeat(2) },
    );
    const token = bearer(METRICS_TOKEN.repeat(2));
    expect(await status(url, { ...token, 'x-forwarded-for': '10.1.2.3' })).to.equal(200);
    expect(await status(url, { ...token, 'x-forwarded-for': '11.1.2.3' })).to.equal(404);
    expect(await status(url, { 'x-forwarded-for': '10.1.2.3' })).to.equal(401);
    expect(await status(url, token)).to.equal(404);
  });

  it('has to be said, and said well', () => {
    for (const [options, message] of [
      [{ token: 'short' }, /fewer than 32 bytes/],
      [{ token: [] }, /fewer than 32 bytes/],
      [{ addresses: ['localhost'] }, /"localhost" is no address/],
      [{ addresses: ['10.0.0.0/33'] }, /no address and no network/],
    ] as const) {
      expect(() => metricsPlugin(options))
        .to.throw(message)
        .with.property('code', 'INVALID_REQUEST');
    }
    const gateway = createGateway({ app: echo, embedded: true });
    closeLater(gateway, (it) => it.close());
    expect(() => gateway.use(metricsPlugin())).to.throw(
      /give it a token, addresses or both, or the gateway a/,
    );
  });
});
