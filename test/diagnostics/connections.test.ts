import { expect } from 'chai';
import { channels } from '../../server/diagnostics/index.js';
import { createInProcessTransport } from '../../server/index.js';
import { inProcess, sse, unixSocket, webSocket } from '../behaviour/doors/own.js';
import { echo, heldApp } from '../support/apps.js';
import { reaches } from '../support/client.js';
import { jsonHeaders, startGateway, type TestGateway, TOKEN } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { listen } from '../support/tracing.js';
import { until } from '../support/until.js';

const DOORS = [
  { door: sse, transport: 'sse' },
  { door: webSocket, transport: 'websocket' },
  { door: unixSocket, transport: 'unix-socket' },
  { door: inProcess, transport: 'in-process' },
];

for (const { door, transport } of DOORS) {
  describe(`ends of connections on their channel, over ${door.name}`, () => {
    it('tell of clients that leave, and of those that are sent away', async () => {
      const { gateway, client } = await door.open({ app: echo });
      const ends = listen(channels.connectionEnd);
      for (const name of ['alice', 'bob', 'carol']) {
        const one = client(name);
        one
          .events('main')
          [Symbol.asyncIterator]()
          .next()
          .catch(() => {});
        await reaches(one, 'open');
        if (name === 'alice') one.disconnect();
        else if (name === 'bob') gateway.disconnect({ userId: 'bob' });
        else await gateway.close();
      }
      for (const [id, reason] of [
        ['alice', 'left'],
        ['bob', 'expired'],
        ['carol', 'drain'],
      ]) {
        const { user, openMs, connectionId, ...end } = await ends.next(({ user }) => user.id === id);
        expect(end).to.deep.equal({
          gatewayId: gateway.id,
          transport,
          reason,
          subscriptions: 1,
          client: true,
        });
        expect(openMs).to.be.at.least(0);
        expect(connectionId).to.be.a('string');
      }
    });
  });
}

describe('the channel of ends of connections', () => {
  it('tells of streams of one run, and of readers of this process', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const ends = listen(channels.connectionEnd);
    const response = await fetch(`${url}/send`, {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ sessionId: 'main', message: 'x' }),
    });
    await response.text();
    const run = await ends.next(({ transport }) => transport === 'sse');
    expect(run).to.include({ reason: 'done', client: false });
    for await (const event of gateway.session('main').events({ from: 'earliest' })) if (event) break;
    const reader = await ends.next(({ transport }) => transport === 'host');
    expect(reader).to.include({ reason: 'left', client: false });
  });

  it('tells of streams that are refused, too old or broken', async () => {
    const { url } = await startGateway({
      app: echo,
      sessionAccess: (_user, { name }) => name !== 'private',
      limits: { streamMs: 1, heartbeatMs: 100 },
    });
    const ends = listen(channels.connectionEnd);
    await openStream(`${url}/events?sessionId=private&token=${TOKEN}`);
    await ends.next(({ reason }) => reason === 'failed');
    await openStream(`${url}/events?sessionId=main&token=${TOKEN}`);
    await ends.next(({ reason }) => reason === 'rotate');
    const socket = await openWebSocket(url);
    await socket.connect();
    for (let i = 0; i < 200; i += 1) socket.say({ type: 'ping', timestamp: i });
    await ends.next(({ transport, reason }) => transport === 'websocket' && reason === 'failed');
  });
});

/** The counts of the gateway: how late the loop is, and whether it is ready, are none. */
function statsOf(gateway: TestGateway['gateway']) {
  const { ready: _, ...stats } = gateway.stats();
  return { ...stats, load: { ...stats.load, delayMs: 0 } };
}

describe('gateway.stats()', () => {
  it('counts what there is, and nothing once all is over', async () => {
    const { app, held, began } = heldApp();
    const { gateway, url } = await startGateway({ apps: { main: app, other: echo }, defaultApp: 'main' });
    const store = { durability: 'memory', open: true, shared: false, skewMs: 0 };
    const delivered = {
      ...{ events: 0, bytes: 0, resumes: { new: 0, exact: 0, gap: 0 } },
      gaps: { epoch: 0, truncated: 0, evicted: 0, ahead: 0, malformed: 0 },
      ...{ dropped: 0, turnedAway: { away: 0, drain: 0, overload: 0 } },
    };
    const nothing = {
      ...{ gatewayId: gateway.id, draining: false, store },
      load: { refusing: false, delayMs: 0, gatherMs: 0 },
      sessions: { live: 0, held: 0, stray: 0 },
      runs: {
        ...{ active: 0, queued: 0, questions: 0, waitedFor: 0, waiting: 0 },
        apps: { main: { active: 0, queued: 0 }, other: { active: 0, queued: 0 } },
      },
      calls: { methods: 0, streams: 0, tools: 0 },
      ...{ due: { outcomes: [] }, heldRuns: [], notices: { outcomes: [], sending: 0 } },
      connections: { open: 0, blocked: 0, subscriptions: 0, transports: {} },
      ...{ delivered, unreadBytes: 0, used: [] },
    };
    expect(statsOf(gateway)).to.deep.equal(nothing);

    const stream = await openStream(`${url}/events?sessionId=one&sessionId=two&token=${TOKEN}`);
    await stream.until(({ event }) => event === 'connected');
    const socket = await openWebSocket(url);
    await socket.connect({ subscribe: [{ sessionId: 'one' }] });
    const session = gateway.session('one');
    await session.send('x').accepted;
    await began.passed;
    const queued = session.send('y');
    await queued.accepted;
    expect(statsOf(gateway)).to.deep.equal({
      ...nothing,
      delivered: gateway.stats().delivered,
      sessions: { live: 2, held: 1, stray: 0 },
      runs: {
        ...{ active: 1, queued: 1, questions: 0, waitedFor: 2, waiting: 0 },
        apps: { main: { active: 1, queued: 1 }, other: { active: 0, queued: 0 } },
      },
      connections: { open: 2, blocked: 0, subscriptions: 3, transports: { sse: 1, websocket: 1 } },
    });

    held.open();
    await queued.result;
    stream.close();
    socket.destroy();
    await until(() => gateway.stats().connections.open === 0);
    expect(statsOf(gateway)).to.deep.equal({
      ...nothing,
      delivered: gateway.stats().delivered,
      sessions: { live: 1, held: 1, stray: 0 },
    });
    await gateway.close();
    expect(gateway.stats()).to.include({ draining: true });
  });

  it('counts the events, bytes and gaps that were delivered, to readers who have left too', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    await gateway.session('main').send('hello').result;
    expect(gateway.stats().delivered).to.include({ events: 0, bytes: 0 });
    const headers = jsonHeaders();
    const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers });
    const last = await stream.until(({ event }) => event === 'message_end');
    const socket = await openWebSocket(url);
    await socket.connect({ subscribe: [{ sessionId: 'main', cursor: 'malformed' }] });
    await socket.event('gap');
    stream.close();
    socket.destroy();
    await until(() => gateway.stats().connections.open === 0);
    const { events, bytes, gaps, resumes } = gateway.stats().delivered;
    expect(events).to.equal(stream.logged.length);
    const read = JSON.stringify(stream.logged.map(({ wire }) => wire)).length;
    expect(bytes).to.be.greaterThan(read);
    expect(gaps).to.deep.equal({ epoch: 0, truncated: 0, evicted: 0, ahead: 0, malformed: 1 });
    expect(resumes).to.deep.equal({ new: 1, exact: 0, gap: 1 });
    const resumed = await openStream(`${url}/events?sessionId=main&lastEventId=${last.id}`, { headers });
    await resumed.until(({ event }) => event === 'heartbeat');
    expect(gateway.stats().delivered).to.deep.include({
      ...{ events, gaps },
      resumes: { new: 1, exact: 1, gap: 1 },
    });
  });

  it('counts what a reader leaves unread', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const socket = await openWebSocket(url);
    await socket.connect({ subscribe: [{ sessionId: 'main' }] });
    socket.pause();
    const text = 'x'.repeat(900_000);
    for (let i = 0; i < 20 && gateway.stats().connections.blocked === 0; i += 1)
      await gateway.session('main').send(text).result;
    const { connections, unreadBytes } = gateway.stats();
    expect(connections.blocked).to.equal(1);
    expect(unreadBytes).to.be.greaterThan(10_000);
    socket.resume();
    await until(() => gateway.stats().unreadBytes === 0);
    expect(gateway.stats().connections.blocked).to.equal(0);
  });

  it('is there for a gateway in a process of its own user, too', async () => {
    const { gateway } = await startGateway({ app: echo });
    const transport = createInProcessTransport(gateway);
    const link = transport.open([{ sessionId: 'main' }], { onEvent() {}, onClose() {} });
    await until(() => gateway.stats().connections.transports['in-process'] === 1);
    link.close();
    await until(() => gateway.stats().connections.open === 0);
  });
});
