import { expect } from 'chai';
import express from 'express';
import { type GatewayPlugin, gatewayMiddleware } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { expiringToken } from '../support/expiring-token.js';
import { startGateway, TestLogger } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { listenWith } from '../support/host-server.js';
import { openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';
import { back, open, type Served, start, talker } from './socket-plugin.js';

describe('WebSockets of plugins', () => {
  it('are opened below their path alone, for whom the gateway knows', async () => {
    const { url, opened } = await start();
    const socket = await open(url, 'alice', '/talk/deep?x=1');
    socket.send('hello');
    await socket.until(back('hello'));
    expect(opened).to.deep.equal(['alice /talk/deep']);
    expect(await (await open(url, 'bad')).closed).to.equal(4401);
    expect(await (await openWebSocket(url, '/talk')).closed).to.equal(4401);
    expect(opened).to.have.length(1);
    for (const path of ['/talker', '/other'])
      expect(await open(url, 'alice', path).catch(({ message }) => message)).to.match(/404/);
    const foreign = { ...as('alice'), origin: 'https://evil.example' };
    expect(await openWebSocket(url, '/talk', foreign).catch(({ message }) => message)).to.match(/403/);
  });

  it('take a token in the URL, and a ticket once', async () => {
    const { url, opened } = await start();
    const byToken = await openWebSocket(url, '/talk?token=bob');
    byToken.send('hello');
    await byToken.until(back('hello'));
    const issued = await fetch(`${url}/ticket`, { method: 'POST', headers: as('carol') });
    const { ticket } = (await issued.json()) as { ticket: string };
    const byTicket = await openWebSocket(url, `/talk?token=${ticket}`);
    byTicket.send('hello');
    await byTicket.until(back('hello'));
    expect(opened).to.deep.equal(['bob /talk', 'carol /talk']);
    expect(await (await openWebSocket(url, `/talk?token=${ticket}`)).closed).to.equal(4401);
    const resumed = await fetch(`${url}/events?token=${ticket}&session=main`, {
      headers: { 'last-event-id': 'x' },
    });
    expect(resumed.status).to.equal(401);
  });

  it('are connections: counted, announced, and ended with their user', async () => {
    const { url, gateway } = await start({ limits: { connectionsPerUser: 1 } });
    const [connected, disconnected] = [
      new Hearing(gateway, 'client:connected'),
      new Hearing(gateway, 'client:disconnected'),
    ];
    const socket = await open(url);
    expect(await connected.nth()).to.deep.include({ transport: 'talk', user: { id: 'alice' } });
    expect(await (await open(url)).closed).to.equal(1013);
    expect(gateway.stats().connections.transports).to.deep.equal({ talk: 1 });
    await open(url, 'bob');
    await connected.nth(2);
    expect(gateway.disconnect({ id: 'alice' })).to.equal(1);
    expect(await socket.closed).to.equal(4401);
    await disconnected.nth();
    await open(url);
    await connected.nth(3);
  });

  it('act as their user is now', async () => {
    let asked = 0;
    const { url, gateway } = await startGateway({
      app: echo,
      auth: {
        type: 'custom',
        cookies: false,
        validate: async () => ({
          valid: true,
          user: { id: 'alice', roles: [asked++ === 0 ? 'admin' : 'guest'] },
        }),
      },
      limits: { revalidateMs: 200 },
    });
    gateway.use({
      name: 'talk',
      setup: ({ socket }) =>
        socket('/talk', (upgrade) => ({
          message: () => void upgrade.socket.send(JSON.stringify({ roles: upgrade.person.user.roles })),
        })),
    });
    const socket = await open(url);
    socket.send('who am I?');
    await socket.until(({ roles }) => roles?.[0] === 'admin');
    await until(() => asked > 1);
    socket.send('and now?');
    await socket.until(({ roles }) => roles?.[0] === 'guest');
  });

  it('end with the token', async () => {
    const { auth, limits, expire } = expiringToken();
    const { url, gateway } = await start({ auth, limits });
    const connected = new Hearing(gateway, 'client:connected');
    const socket = await open(url);
    await connected.nth();
    expire();
    expect(await socket.closed).to.equal(4401);
  });

  it('hear messages in their order, each after the one before', async () => {
    const { url } = await start();
    const socket = await open(url);
    // They are sent before anybody listens.
    for (const text of ['1', '2', 'run', '3']) socket.send(text);
    await socket.until(back('3'));
    await socket.until(({ delta }) => delta !== undefined);
    const at = (found: (frame: any) => boolean) => socket.frames.findIndex(found);
    expect(at(back('1'))).to.be.lessThan(at(back('2')));
    expect(at(back('2'))).to.be.lessThan(at(({ begin }) => begin));
  });

  it('carry messages of bounded size and number', async () => {
    const { url } = await start({ limits: { bodyBytes: 1000 } });
    const big = await open(url);
    big.send('x'.repeat(1001));
    expect(await big.closed).to.equal(1009);
    const many = await open(url);
    for (let n = 0; n < 200; n++) many.send('x');
    expect(await many.closed).to.equal(1008);
    const binary = await open(url);
    binary.webSocket.send(Buffer.from('x'));
    expect(await binary.closed).to.equal(1003);
  });

  it("are closed for what goes wrong, in the plugin's words where it has any", async () => {
    const { url, log } = await start();
    const socket = await open(url);
    socket.send('fail');
    expect(await socket.closed).to.equal(1011);
    expect(log.lines.map(({ message }) => message).join()).to.match(/request .* failed/);
    const fail = ({ status, code }: any, it: any): void => it.close(4000 + status, code);
    const own = await start({}, { fail });
    expect(await (await open(own.url, 'bad')).closed).to.equal(4401);
    const failing = await open(own.url);
    failing.send('fail');
    expect(await failing.closed).to.equal(4500);
    const leaving = await open(own.url);
    leaving.send('bye');
    expect(await leaving.closed).to.equal(4000);
  });

  it('of dead peers are freed', async () => {
    const { url, gateway } = await start({ limits: { heartbeatMs: 50 } });
    const disconnected = new Hearing(gateway, 'client:disconnected');
    const socket = await open(url);
    const alive = await open(url, 'bob');
    // It answers no ping.
    (socket.webSocket as any)._autoPong = false;
    expect((await disconnected.nth()).user?.id).to.equal('alice');
    alive.send('hello');
    await alive.until(back('hello'));
  });

  it('are drained: at once, or behind the run that is told', async () => {
    const { app, held } = heldApp('begun ', 'ended');
    const { url, gateway, ends } = await start({ app, limits: { drainMs: 5000 } });
    const [idle, following, telling] = [await open(url), await open(url), await open(url)];
    idle.send('hello');
    await idle.until(back('hello'));
    telling.send('run');
    await telling.until(({ delta }) => delta === 'begun ');
    following.send('follow');
    await following.until(({ begin }) => begin);
    const closing = gateway.close();
    expect(await idle.closed).to.equal(1001);
    expect(await following.closed).to.equal(1001);
    expect(ends).to.deep.equal(['ABORTED']);
    held.open();
    expect(await telling.closed).to.equal(1001);
    expect(telling.frames.at(-1)).to.deep.equal({ delta: 'ended' });
    await closing;
  });

  it('are reached below a mount of a host', async () => {
    const router = gatewayMiddleware({ app: echo, auth: byName, logger: new TestLogger() });
    closeLater(router.gateway, (it) => it.close());
    const served: Served = { opened: [], ends: [] };
    router.gateway.use({ name: 'talk', setup: (context) => talker(context, served) });
    const { createServer } = await import('node:http');
    const server = createServer(express().use('/api/agent', router));
    router.attach(server);
    const url = await listenWith(server);
    const socket = await open(url, 'alice', '/api/agent/talk/a');
    socket.send('hello');
    await socket.until(back('hello'));
    expect(served.opened).to.deep.equal(['alice /talk/a']);
    expect(await open(url, 'alice', '/elsewhere/talk').catch(({ message }) => message)).to.match(/404/);
  });

  it('refuse a path that is taken', async () => {
    const { gateway } = await start();
    const again: GatewayPlugin = {
      name: 'again',
      setup: (context) => talker(context, { opened: [], ends: [] }),
    };
    expect(() => gateway.use(again)).to.throw(/malformed or taken/);
  });
});
