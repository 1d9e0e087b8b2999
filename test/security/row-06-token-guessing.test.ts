import { expect } from 'chai';
import express from 'express';
import jwt from 'jsonwebtoken';
import { type AuthConfig, Gateway, gatewayMiddleware } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { get, startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketPath } from './doors.js';

const SECRET = 's'.repeat(40);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const wrong = async (url: string, times: number, headers = {}): Promise<number[]> => {
  const statuses: number[] = [];
  for (let n = 0; n < times; n++) {
    statuses.push((await get(`${url}/status`, { ...bearer(`wrong-${n}`), ...headers })).status);
  }
  return statuses;
};

/** Lets one token in, and takes its time. */
const slow = (right: string): AuthConfig => ({
  type: 'custom',
  cookies: false,
  validate: async (token) => {
    await new Promise(setImmediate);
    return token === right ? { valid: true, user: { id: 'eve' } } : { valid: false };
  },
});

describe('row 6: guessing tokens', () => {
  it('is counted over all doors by address; X-Forwarded-For of a stranger changes nothing', async () => {
    const { url } = await startGateway({ app: echo });
    expect(await wrong(url, 6, { 'x-forwarded-for': '9.9.9.9' })).to.deep.equal(Array(6).fill(401));
    for (let n = 0; n < 4; n++) {
      const socket = await openWebSocket(url);
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: `guess-${n}` });
      expect(await socket.closed).to.equal(4401);
    }
    const blocked = await get(`${url}/status`, { ...bearer(TOKEN), 'x-forwarded-for': '8.8.8.8' });
    expect([blocked.status, blocked.body.error.code]).to.deep.equal([429, 'RATE_LIMITED']);
    const socket = await openWebSocket(url);
    socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: TOKEN });
    expect((await socket.until(({ type }) => type === 'error')).code).to.equal('RATE_LIMITED');
  });

  it('all at once tells no more than one after the other: the right guess answers like the wrong ones', async () => {
    for (const at of [25, 99]) {
      const { url } = await startGateway({ app: echo, auth: slow(`pin-${at}`) });
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async (_, n) => (await get(`${url}/status`, bearer(`pin-${n}`))).status),
      );
      expect(statuses.filter((status) => status === 401)).to.have.length(10);
      expect(statuses.filter((status) => status === 429)).to.have.length(90);
    }
  });

  it('behind a trusted proxy shuts out the guesser alone', async () => {
    for (const trustProxy of [true, 1, 'loopback', ['127.0.0.0/8', '::1']] as const) {
      const { url } = await startGateway({ app: echo, trustProxy });
      const from = (address: string) => ({ 'x-forwarded-for': address });
      expect(await wrong(url, 11, from('198.51.100.7'))).to.deep.equal([...Array(10).fill(401), 429]);
      expect((await get(`${url}/status`, { ...bearer(TOKEN), ...from('198.51.100.8') })).status).to.equal(
        200,
      );
      // What the guesser claims to forward counts for nothing, unless everybody is believed.
      const forged = trustProxy === true ? '198.51.100.7' : '1.2.3.4, 198.51.100.7';
      expect((await get(`${url}/status`, { ...bearer('one-more'), ...from(forged) })).status).to.equal(429);
    }
  });

  it('of fetch hosts counts by the address they name, through a proxy too', async () => {
    const logger = new TestLogger();
    const auth: AuthConfig = { type: 'token', token: TOKEN };
    const gateway = closeLater(
      new Gateway({ app: echo, embedded: true, auth, logger, trustProxy: ['10.0.0.0/8'] }),
      (it) => it.close(),
    );
    const ask = async (token: string, ip: string, forwarded: string): Promise<number> => {
      const headers = { ...bearer(token), 'x-forwarded-for': forwarded };
      return (await gateway.fetch(new Request('http://localhost/status', { headers }), { ip })).status;
    };
    for (let n = 0; n < 10; n++) expect(await ask(`x${n}`, '10.0.0.1', '198.51.100.7')).to.equal(401);
    expect(await ask(TOKEN, '10.0.0.1', '198.51.100.7')).to.equal(429);
    expect(await ask(TOKEN, '10.0.0.1', '198.51.100.8')).to.equal(200);
    expect(await ask(TOKEN, '192.0.2.1', '198.51.100.7'), 'no proxy of ours').to.equal(200);
  });

  it('says in the log that a proxy should be named', async () => {
    const { url, log } = await startGateway({ app: echo });
    for (let n = 0; n < 3; n++) await get(`${url}/status`, { 'x-forwarded-for': '198.51.100.7' });
    expect(log.lines.filter(({ message }) => message.includes('trustProxy'))).to.have.length(1);
  });

  for (const [trusts, many] of [
    [1, 0],
    [false, 1],
  ] as const)
    it(`${many === 0 ? 'says nothing of it' : 'says so too'} in an Express whose \`trust proxy\` is ${trusts}`, async () => {
      const logger = new TestLogger();
      const agent = gatewayMiddleware({ app: echo, auth: { type: 'token', token: TOKEN }, logger });
      closeLater(agent.gateway, (it) => it.close());
      const url = await listenOnLoopback(express().set('trust proxy', trusts).use('/agent', agent));
      await get(`${url}/agent/status`, { 'x-forwarded-for': '198.51.100.7' });
      expect(logger.lines.filter(({ message }) => message.includes('trustProxy'))).to.have.length(many);
    });

  it('is not what a bad JWT is: newly issued ones go on working', async () => {
    const { url, log } = await startGateway({ app: echo, auth: { type: 'jwt', secret: SECRET } });
    expect(await wrong(url, 30)).to.deep.equal(Array(30).fill(401));
    const fresh = jwt.sign({ sub: 'ada' }, SECRET);
    expect((await get(`${url}/status`, bearer(fresh))).status).to.equal(200);
    expect(log.lines.some(({ message }) => message === 'a caller was refused')).to.equal(true);
  });

  it('on the Unix socket does not shut out the network', async () => {
    const path = socketPath();
    const { url } = await startGateway({ app: echo, socketPath: path });
    for (let n = 0; n < 10; n++) {
      const socket = await openUnixSocket(path);
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: `guess-${n}` });
      await socket.closed;
    }
    expect((await get(`${url}/status`)).status).to.equal(200);
  });

  it('leaves a trace: why, from where and the block, in bounded lines and never with a token', async () => {
    const { url, gateway, log } = await startGateway({ app: echo });
    const refused: any[] = [];
    const blocked: any[] = [];
    gateway.on('caller:refused', (it) => refused.push(it));
    gateway.on('address:blocked', (it) => blocked.push(it));
    await wrong(url, 60, bearer('a-secret-that-nobody-may-see-in-a-log'));
    expect(refused).to.have.length(10);
    expect(refused[0]).to.deep.equal({
      code: 'UNAUTHENTICATED',
      reason: 'another token',
      address: '127.0.0.1',
    });
    expect(blocked).to.have.length(50);
    expect(log.lines.length).to.be.within(2, 40);
    expect(JSON.stringify([log.lines, refused, blocked])).not.to.include('a-secret-that-nobody');
  });
});

describe('validate that cannot find out', () => {
  it('is 503 AUTH_UNAVAILABLE, which helps to retry, and no failed attempt', async () => {
    let away = true;
    const validate = async () => {
      if (away) throw new Error('the database is away');
      return { valid: true, user: { id: 'ada' } };
    };
    const { url, log } = await startGateway({
      app: echo,
      auth: { type: 'custom', cookies: false, validate },
    });
    for (let n = 0; n < 20; n++) {
      const { status, body, headers } = await get(`${url}/status`, bearer('token'));
      expect([status, body.error.code, body.error.retryable]).to.deep.equal([503, 'AUTH_UNAVAILABLE', true]);
      expect(headers.get('retry-after')).to.equal('1');
    }
    expect(JSON.stringify(log.lines)).to.include('authentication failed');
    away = false;
    expect((await get(`${url}/status`, bearer('token'))).status).to.equal(200);
  });
});
