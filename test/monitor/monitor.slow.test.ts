import { expect } from 'chai';
import { createGateway, memoryStore } from '../../server/index.js';
import { metricsPlugin } from '../../server/plugins/metrics/index.js';
import { echo } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { type startGateway, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const OPERATORS = 'a-token-of-operators-of-more-than-32-bytes';

type Config = Parameters<typeof startGateway>[0];

async function monitored(config: Partial<Config> = {}, token: string | undefined = OPERATORS) {
  const gateway = createGateway({
    ...{ app: echo, port: 0, auth: { type: 'token', token: TOKEN }, logger: { warn() {}, error() {} } },
    ...{
      monitor: { port: 0, ...(token && { token }) },
      ...config,
      limits: { drainMs: 200, ...config.limits },
    },
  });
  closeLater(gateway, (it) => it.close());
  gateway.use(metricsPlugin());
  return gateway;
}

const ask = async (url: string, { token, ...init }: RequestInit & { readonly token?: string } = {}) => {
  const headers = { ...init.headers, ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('the monitoring port', () => {
  it('tells health to everybody, and the rest to who has its token', async () => {
    const gateway = await monitored();
    const { monitor, url } = await gateway.start();
    const live = await ask(`${monitor}/healthz`);
    expect(live.status).to.equal(200);
    expect(JSON.parse(live.text)).to.include({ ok: true });
    await until(async () => (await ask(`${monitor}/readyz`)).status === 200);
    for (const path of ['/metrics', '/stats', '/nothing']) {
      expect((await ask(`${monitor}${path}`)).status, path).to.equal(401);
      expect((await ask(`${monitor}${path}`, { token: TOKEN })).status, path).to.equal(401);
    }
    const stats = JSON.parse((await ask(`${monitor}/stats`, { token: OPERATORS })).text);
    expect(stats).to.include({ id: gateway.id });
    expect(stats.stats.gatewayId).to.equal(gateway.id);
    const metrics = await ask(`${monitor}/metrics`, { token: OPERATORS });
    expect(metrics.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(metrics.text)
      .to.match(/^agent_gateway_store_open 1$/m)
      .and.to.match(/^agent_gateway_silent_seconds /m);
    expect((await ask(`${monitor}/nothing`, { token: OPERATORS })).status).to.equal(404);
    expect((await ask(`${monitor}/stats`, { token: OPERATORS, method: 'DELETE' })).status).to.equal(405);
    // The page is on the monitoring port alone.
    expect((await ask(`${url}/metrics`)).status).to.equal(404);
  });

  it('answers until the last moment of a drain, and is closed then', async () => {
    const opened = gate();
    const held = gate();
    const began = gate();
    const app = {
      async *run() {
        began.open();
        await held.passed;
        yield 'done';
      },
    };
    const inner = memoryStore();
    const store = Object.assign(inner, { open: () => opened.passed });
    const gateway = await monitored({ app, store, monitor: { port: 0 }, limits: { drainMs: 60_000 } }, '');
    const logged: string[] = [];
    const starting = gateway.start();
    const reason = async () => JSON.parse((await ask(`${monitor}/readyz`)).text).error?.details.reason;
    opened.open();
    const { monitor } = await starting;
    await until(async () => (await reason()) === undefined);
    const run = gateway.session('main', { user: { id: 'alice' } }).send('hi');
    await began.passed;
    const closing = gateway.close();
    await until(async () => (await reason()) === 'draining');
    held.open();
    await closing;
    expect((await run.result).stopReason).to.equal('end');
    expect(logged).to.deep.equal([]);
    expect(await ask(`${monitor}/healthz`).catch(() => 'closed')).to.equal('closed');
  });

  it('answers while the event loop stands still, says so, and gives the page of before', async () => {
    const gateway = await monitored({}, OPERATORS);
    const { monitor } = await gateway.start();
    await until(async () => (await ask(`${monitor}/readyz`)).status === 200);
    await ask(`${monitor}/metrics`, { token: OPERATORS });
    // This process is the gateway's, so another one asks while it stands still.
    const { Worker } = await import('node:worker_threads');
    const asker = new Worker(
      `const { parentPort, workerData: { monitor, token, flag } } = require('node:worker_threads');
      (async () => {
        const told = [];
        const ask = async (path) => {
          const response = await fetch(monitor + path, { headers: { authorization: 'Bearer ' + token } });
          told.push([path, response.status, await response.text()]);
          return response.status;
        };
        while ((await ask('/readyz')) === 200) await new Promise((resolve) => setTimeout(resolve, 50));
        for (const path of ['/healthz', '/stats', '/metrics']) await ask(path);
        Atomics.store(flag, 0, 1);
        parentPort.postMessage(told);
      })();`,
      {
        eval: true,
        workerData: { monitor, token: OPERATORS, flag: new Int32Array(new SharedArrayBuffer(4)) },
      },
    );
    closeLater(asker, (it) => void it.terminate());
    const told = new Promise<[string, number, string][]>((resolve) => asker.once('message', resolve));
    const until4 = performance.now() + 4000;
    while (performance.now() < until4);
    const [ready, live, stats, metrics] = (await told)
      .filter(([, status, text]) => text !== '' && status > 0)
      .slice(-4);
    expect(ready![1]).to.equal(503);
    expect(JSON.parse(ready![2]).error.details).to.deep.equal({ reason: 'overloaded' });
    expect(live![1]).to.equal(200);
    expect(JSON.parse(stats![2]).ageMs).to.be.greaterThan(1000);
    expect(metrics![2]).to.match(/^agent_gateway_store_open 1$/m);
    expect(Number(/^agent_gateway_silent_seconds (\S+)$/m.exec(metrics![2])![1])).to.be.greaterThan(1);
    await until(async () => (await ask(`${monitor}/readyz`)).status === 200);
  });

  it('without a token is read on this machine by address alone, so that no page of a site can', async () => {
    const gateway = await monitored({}, '');
    const { monitor } = await gateway.start();
    expect((await ask(`${monitor}/stats`)).status).to.equal(200);
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(`${monitor}/stats`, { headers: { host: 'rebound.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).to.equal(421);
    const desk = await ask(`${monitor}/desk`, { method: 'POST', body: '{"action":"status"}' });
    expect(desk.status).to.equal(403);
  });

  it('is refused at once without a token off loopback, with a short one, and on a port that is taken', async () => {
    const config = { app: echo, monitor: { port: 0, host: '0.0.0.0' } };
    expect(() => createGateway(config)).to.throw(/monitor\.token: is required/);
    expect(() => createGateway({ ...config, monitor: { port: 0, token: 'short' } })).to.throw(
      /monitor\.token/,
    );
    expect(() => createGateway({ ...config, monitor: { port: 0, path: '/' } as never })).to.throw(
      /monitor\.path/,
    );
    const first = await monitored();
    const { monitor } = await first.start();
    const second = await monitored({ monitor: { port: Number(new URL(monitor!).port) } });
    const error = await second.start().catch((failed: unknown) => failed);
    expect(error).to.deep.include({ code: 'ADDRESS_IN_USE' });
    expect((error as Error).message).to.contain('monitor.port');
  });
});
