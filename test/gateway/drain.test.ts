import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createGateway, defineApp, type GatewayError } from '../../server/index.js';
import { drainWords } from '../../server/runtime/stop-on-signals.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { echo, heldApp } from '../support/apps.js';
import { get, jsonHeaders, post, startGateway, TestLogger } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { heldStore } from '../support/held-store.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { tempDir } from '../support/temp-dir.js';

/** A gateway behind the host's own server, which goes on listening while the gateway drains. */
async function embedded(drainMs: number) {
  const { app, held, began } = heldApp();
  const gateway = createGateway({
    apps: { held: app, echo },
    defaultApp: 'held',
    embedded: true,
    limits: { drainMs },
    logger: new TestLogger(),
  });
  closeLater(gateway, (it) => it.close());
  const url = await listenOnLoopback((request, response) => gateway.handleRequest(request, response));
  return { gateway, url, held, began };
}

const streaming = (sessionId: string): RequestInit => ({
  method: 'POST',
  headers: jsonHeaders(),
  body: JSON.stringify({ sessionId, message: 'hi' }),
});

describe('start() after close()', () => {
  it('rejects with a coded error, whether the gateway had started or not, and opens nothing', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const { port } = new URL(url);
    await gateway.close();
    const never = createGateway({ app: echo, port: Number(port), logger: new TestLogger() });
    await never.close();
    for (const closed of [gateway, never]) {
      const error = await closed.start().then(
        () => null,
        (thrown: GatewayError) => thrown,
      );
      expect(error).to.include({ code: 'SHUTTING_DOWN', retryable: false });
      expect(error?.message).to.match(/make another one/);
    }
    expect(await fetch(`${url}/healthz`).catch(() => 'nobody')).to.equal('nobody');
  });
});

describe('close() while the first request opens the store', () => {
  it('closes the store too, so that the next process can open it', async () => {
    const path = join(tempDir(), 'gateway.db');
    const logger = new TestLogger();
    const gateway = createGateway({ app: echo, embedded: true, store: sqliteStore({ path }), logger });
    closeLater(gateway, (it) => it.close());
    const asked = gateway
      .session('main')
      .send('hi')
      .accepted.catch((error: GatewayError) => error.code);
    await gateway.close();
    await asked;
    const next = sqliteStore({ path });
    await next.open();
    await next.close();
    expect(
      await gateway
        .session('main')
        .send('late')
        .accepted.catch((error: GatewayError) => error.code),
    ).to.equal('SHUTTING_DOWN');
  });

  it('answers a request that comes before the store was ever opened with SHUTTING_DOWN, and opens nothing', async () => {
    const path = join(tempDir(), 'gateway.db');
    const store = sqliteStore({ path });
    const gateway = createGateway({ app: echo, embedded: true, store, logger: new TestLogger() });
    const url = await listenOnLoopback((request, response) => gateway.handleRequest(request, response));
    await gateway.close();
    const { status, body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect([status, body.error.code]).to.deep.equal([503, 'SHUTTING_DOWN']);
    expect(existsSync(path)).to.equal(false);
  });
});

describe('close()', () => {
  it('lets a send that streams finish', async () => {
    const { gateway, url, held, began } = await embedded(10_000);
    const run = await openStream(`${url}/send`, streaming('main'));
    await began.passed;
    const closing = gateway.close();
    held.open();
    await closing;
    await run.ended;
    expect(run.logged.at(-1)).to.deep.include({ event: 'message_end' });
    expect(run.logged.at(-1)!.data).to.include({ stopReason: 'end' });
    expect(
      run.logged.filter(({ event }) => event === 'content_delta').map(({ data }) => data.delta),
    ).to.deep.equal(['working ', 'done with hi']);
  });

  it('lets a send that waits for JSON finish, standalone too', async () => {
    const { app, held, began } = heldApp();
    const { gateway, url } = await startGateway({ app, limits: { drainMs: 10_000 } });
    const sending = post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await began.passed;
    const closing = gateway.close();
    held.open();
    expect((await sending).body).to.include({ stopReason: 'end' });
    await closing;
  });

  it('turns new work away with 503 and Retry-After while it drains; what reads goes on', async () => {
    const { gateway, url, held, began } = await embedded(10_000);
    const run = await openStream(`${url}/send`, streaming('main'));
    await began.passed;
    const closing = gateway.close();
    for (const [path, body] of [
      ['send', { sessionId: 'other', message: 'hi' }],
      ['invoke', { method: 'none' }],
      ['channel', { sessionId: 'main', channel: 'c', payload: 1 }],
      ['subscribe', { connectionId: 'c' }],
    ] as const) {
      const answer = await post(`${url}/${path}`, body);
      expect(answer.status, path).to.equal(503);
      expect(answer.headers.get('retry-after'), path).to.match(/^\d+$/);
      expect(answer.body.error, path).to.include({ code: 'SHUTTING_DOWN', retryable: true });
      expect(answer.body.error.retryAfterMs, path).to.be.above(0);
    }
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'running' });
    expect((await get(`${url}/status`)).body).to.include({ draining: true });
    held.open();
    await closing;
    await run.ended;
  });

  it('answers a repeated key of a running send while it drains, and starts no run for a new one', async () => {
    const { gateway, url, held, began } = await embedded(10_000);
    const body = { sessionId: 'main', message: 'hi', idempotencyKey: 'k1' };
    const accepted = await post(`${url}/send`, body, { prefer: 'respond-async' });
    await began.passed;
    const closing = gateway.close();
    const again = post(`${url}/send`, body);
    const other = await post(`${url}/send`, { ...body, idempotencyKey: 'k2' });
    expect(other.status).to.equal(503);
    held.open();
    expect((await again).body).to.include({ runId: accepted.body.runId, stopReason: 'end' });
    await closing;
  });

  it('makes readyz fail and healthz not', async () => {
    const { gateway, url, held, began } = await embedded(10_000);
    expect((await get(`${url}/readyz`)).status).to.equal(200);
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
    await began.passed;
    const closing = gateway.close();
    const ready = await get(`${url}/readyz`);
    expect(ready.status).to.equal(503);
    expect(ready.headers.get('retry-after')).to.equal('1');
    expect((await get(`${url}/healthz`)).status).to.equal(200);
    held.open();
    await closing;
  });

  it('tells open streams to reconnect, and a new one with 200, retry and the end', async () => {
    const { gateway, url, held, began } = await embedded(10_000);
    const stream = await openStream(`${url}/events?sessionId=main`);
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
    await began.passed;
    const closing = gateway.close();
    await stream.ended;
    expect(stream.retryMs).to.be.within(500, 5000);
    const late = await openStream(`${url}/events?sessionId=main`);
    await late.ended;
    expect(late.response.status).to.equal(200);
    expect(late.response.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(late.events).to.deep.equal([]);
    expect(late.retryMs).to.be.within(500, 5000);
    held.open();
    await closing;
  });

  it('ends a run that outlasts drainMs as lost, with one message_end', async () => {
    const { gateway, url, began } = await embedded(20);
    const ended = new Hearing(gateway, 'run:ended');
    const run = await openStream(`${url}/send`, streaming('main'));
    await began.passed;
    await gateway.close();
    await run.ended;
    const ends = run.logged.filter(({ event }) => event === 'message_end');
    expect(ends.map(({ data }) => data.stopReason)).to.deep.equal(['lost']);
    expect(ends[0]!.data.message.content).to.deep.equal([{ type: 'text', text: 'working ' }]);
    expect(ended.heard.map(({ stopReason }) => stopReason)).to.deep.equal(['lost']);
  });

  it('standalone: an idle keep-alive connection and an open stream do not hold it up', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    await get(`${url}/status`);
    const stream = await openStream(`${url}/events`, { headers: jsonHeaders() });
    await stream.until(({ event }) => event === 'connected');
    await gateway.close();
    await stream.ended;
    expect(stream.retryMs).to.be.a('number');
  });

  it('twice is once: both wait for the same end', async () => {
    const { gateway, url, held, began } = await embedded(10_000);
    const stopped = new Hearing(gateway, 'stopped');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
    await began.passed;
    const [one, two] = [gateway.close(), gateway.close()];
    expect(two).to.equal(one);
    held.open();
    await Promise.all([one, two]);
    expect(stopped.heard).to.have.length(1);
  });
});

describe('a message that is accepted while the gateway begins to drain', () => {
  it('is answered to its end, within the time that there is', async () => {
    const path = join(tempDir(), 'gateway.db');
    const held = heldStore(sqliteStore({ path }));
    const { app, held: answering, began } = heldApp();
    const { gateway, url } = await startGateway({ app, store: held.store, limits: { drainMs: 60_000 } });
    const stored = held.hold();
    const sent = post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await stored;
    const closed = gateway.close();
    held.release();
    await began.passed;
    answering.open();
    const { status, body } = await sent;
    expect([status, body.stopReason]).to.deep.equal([200, 'end']);
    await closed;
  });
});

describe('a gateway that closes', () => {
  const asking = defineApp({ run: async (turn) => String(await turn.ask({ name: 'who' })) });

  it('tells beforehand how many runs it waits for, and does not wait for a person where it forgets all', async () => {
    const { app, held, began } = heldApp();
    const { gateway } = await startGateway({
      apps: { held: app, asking },
      defaultApp: 'held',
      limits: { drainMs: 60_000 },
    });
    expect(drainWords(gateway)).to.equal(null);
    const run = gateway.session('main').send('x');
    await began.passed;
    const asked = gateway.session('asking:main').send('x');
    for await (const event of asked) if (event.type === 'input_required') break;
    expect(drainWords(gateway)).to.match(/^Waiting for 1 run to end\. Ctrl\+C again ends at once/);
    const closed = gateway.close();
    held.open();
    expect((await run.result).stopReason).to.equal('end');
    await closed;
    expect((await asked.result).stopReason).to.equal('lost');
  });

  it('waits for no run that the next process goes on with', async () => {
    const store = sqliteStore({ path: join(tempDir(), 'gateway.db') });
    const { gateway } = await startGateway({ app: { ...asking, resumable: true }, store });
    for await (const event of gateway.session('main').send('x')) if (event.type === 'input_required') break;
    expect(gateway.stats().runs).to.include({ active: 1, waitedFor: 0 });
  });
});
