import { expect } from 'chai';
import { DEFAULT_LIMITS } from '../../server/config/limits.js';
import { defineApp } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { WebSocket } from '../support/behind-proxy.js';
import { connectClient, reaches, takeUntil } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { newDatabase } from '../support/durable.js';
import { freePort } from '../support/free-port.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openStream, postStream } from '../support/sse-client.js';
import { CLUSTER_PROXY, PROXIES, type ProxyKind, type ProxySetting, shipped } from './proxies.js';

/** In these tests all times pass so much faster. */
const FASTER = 30;
const { heartbeatMs, runMs, fileBytes } = DEFAULT_LIMITS;
/** What a proxy waits by default, and longer. */
const MINUTE_AND_A_HALF = 90_000 / FASTER;

/** "ask" waits for an answer, anything else is silent for a minute and a half. */
const app = defineApp({
  async *run(turn) {
    yield 'so: ';
    if (turn.text === 'ask') await turn.ask({ name: 'go' });
    else await new Promise((done) => setTimeout(done, MINUTE_AND_A_HALF));
    yield turn.text;
  },
});

async function behind(proxy: ProxyKind, setting: Omit<ProxySetting, 'ports'> = {}) {
  const { gateway, url } = await startGateway({
    app,
    // Where a restart forgets all, nobody waits for a person.
    store: sqliteStore({ path: newDatabase() }),
    trustProxy: 1,
    limits: { heartbeatMs: heartbeatMs / FASTER, drainMs: 5000 },
  });
  const ports = [Number(new URL(url).port)];
  while (ports.length < proxy.gateways) ports.push(await freePort());
  return { gateway, url: await proxy.start({ ports, faster: FASTER, ...setting }) };
}

for (const proxy of [...PROXIES, CLUSTER_PROXY]) {
  describeDaily(`${proxy.file}`, 3, () => {
    beforeEach(function () {
      proxy.need(this);
    });

    it('passes each event of an answer on as it comes', async () => {
      const { url } = await behind(proxy);
      const stream = await postStream(`${url}/send`, { sessionId: 'main', message: 'ask' });
      // The rest comes only once this has arrived.
      const { data } = await stream.until(({ event }) => event === 'input_required');
      const answer = { sessionId: 'main', callId: data.callId, output: true };
      expect((await post(`${url}/tool-response`, answer)).status).to.equal(200);
      await stream.until(({ event }) => event === 'message_end');
    });

    it('keeps streams of events and WebSockets that are silent but for heartbeats', async () => {
      const { url, gateway } = await behind(proxy);
      const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
      const client = connectClient(url, { transport: 'websocket', WebSocket });
      const events = client.events('main', { from: 'earliest' });
      await reaches(client, 'open');
      const opened = gateway.stats().connections.open;
      await client.send('main', 'wait').result;
      await stream.until(({ event }) => event === 'message_end');
      await takeUntil(events, ({ type }) => type === 'message_end');
      expect(gateway.stats().connections.open).to.equal(opened);
    });

    it('waits for an answer in JSON that takes longer than a minute', async () => {
      const { url } = await behind(proxy);
      const { status, body } = await post(`${url}/send`, { sessionId: 'main', message: 'wait' });
      expect(status).to.equal(200);
      expect(body).to.include({ stopReason: 'end' });
    });

    it('tells the gateway who asks, whatever they say themselves', async () => {
      const { url, gateway } = await behind(proxy);
      const refused = new Promise<string>((resolve) => {
        gateway.on('caller:refused', ({ address }) => resolve(address));
      });
      const forged = { authorization: 'Bearer wrong', 'x-forwarded-for': '203.0.113.7' };
      expect((await get(`${url}/status`, forged)).status).to.equal(401);
      expect(await refused).to.equal('127.0.0.1');
    });

    it('passes on what a gateway says that drains, and has EventSource come back', async () => {
      const { url, gateway } = await behind(proxy, {
        edit: (text) => text.replace('lb_try_duration 5s', 'lb_try_duration 50ms'),
      });
      const stream = await postStream(`${url}/send`, { sessionId: 'main', message: 'ask' });
      const { data } = await stream.until(({ event }) => event === 'input_required');
      const closed = gateway.close();
      const refused = await post(`${url}/send`, { sessionId: 'main', message: 'more' });
      expect(refused.status).to.equal(503);
      expect(refused.body.error).to.include({ code: 'SHUTTING_DOWN' });
      const again = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
      await again.ended;
      expect(again.response.status).to.equal(200);
      expect(again.retryMs).to.be.a('number');
      // What is under way can be answered still.
      const answer = { sessionId: 'main', callId: data.callId, output: true };
      expect((await post(`${url}/tool-response`, answer)).status).to.equal(200);
      await stream.until(({ event }) => event === 'message_end');
      await closed;

      const headers = { ...jsonHeaders(), origin: 'https://app.example' };
      // Also of a gateway that a host has below a path.
      for (const path of ['/events', '/agent/events']) {
        const away = await openStream(`${url}${path}?sessionId=main`, { headers });
        await away.ended;
        expect(away.response.status, path).to.equal(200);
        expect(away.response.headers.get('content-type')).to.match(/^text\/event-stream/);
        expect(away.response.headers.get('access-control-allow-origin')).to.equal('https://app.example');
        expect(away.retryMs).to.equal(1000);
      }
      expect((await fetch(`${url}/status`)).status).to.be.within(502, 504);
    });

    if (proxy.hasTimes) {
      it('would cut such an answer with the time-outs that are common', async () => {
        const { url } = await behind(proxy, { edit: (text) => text.replaceAll('610s', '60s') });
        const body = JSON.stringify({ sessionId: 'main', message: 'wait' });
        const headers = { ...jsonHeaders(), accept: 'application/json' };
        expect((await fetch(`${url}/send`, { method: 'POST', headers, body })).status).to.equal(504);
      });

      it('waits longer than the limits of the gateway say', () => {
        const times = [...shipped(proxy.file).matchAll(/(?:read_timeout|timeout server) (\d+)s/g)];
        const [long, short] = times.map(([, seconds]) => Number(seconds) * 1000);
        expect(times).to.have.length(2);
        expect(long).to.be.above(runMs);
        expect(short)
          .to.be.above(2 * heartbeatMs)
          .and.below(runMs);
      });
    }
  });
}

for (const file of ['deploy/nginx/agent-session-gateway.conf', 'deploy/nginx/cluster.conf']) {
  describeDaily(`${file}: uploads`, 3, () => {
    it('takes files as large as the gateway does', () => {
      const [, mebibytes] = /client_max_body_size (\d+)m;/.exec(shipped(file))!;
      expect(Number(mebibytes) * 1024 * 1024).to.equal(fileBytes);
    });
  });
}
