import { expect } from 'chai';
import { parseConfig } from '../../server/config/parse.js';
import { type AuthConfig, DEFAULT_LIMITS, type GatewayConfig } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { echo } from '../support/apps.js';
import { newDatabase } from '../support/durable.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES_AND_LATE } from '../support/test-store.js';
import { as, byName } from '../support/users.js';

const backend: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: (token) => ({ valid: true, user: { id: token ?? 'x', service: token === 'backend' } }),
};
const person = {
  connectionsPerUser: 2,
  sendsPerSecond: 1,
  sessionsPerUser: 2,
  invokesPerSecond: 1,
  readsPerSecond: 1,
};

describe('identities that many callers share', () => {
  for (const [name, auth, headers] of [
    ['none', { type: 'none' }, {}],
    ['a token without user', { type: 'token', token: TOKEN }, {}],
    ['a service', backend, as('backend')],
  ] as [string, AuthConfig, Record<string, string>][]) {
    it(`(${name}) are not bounded like a person, but by limits.shared`, async () => {
      const { url } = await startGateway({
        app: echo,
        auth,
        methods: { ping: () => 1 },
        limits: { ...person, shared: { connections: 5 } },
      });
      for (let n = 0; n < 5; n++) {
        expect(
          (await openStream(`${url}/events`, { headers: { authorization: `Bearer ${TOKEN}`, ...headers } }))
            .response.status,
        ).to.equal(200);
        expect((await post(`${url}/send`, { sessionId: `s${n}`, message: 'hi' }, headers)).status).to.equal(
          200,
        );
        expect((await post(`${url}/invoke`, { method: 'ping' }, headers)).status).to.equal(200);
        expect((await get(`${url}/status`, headers)).status).to.equal(200);
      }
      const sixth = await get(`${url}/events`, headers);
      expect([sixth.status, sixth.body.error.code]).to.deep.equal([429, 'TOO_MANY_CONNECTIONS']);
    });
  }

  it('people are bounded as before, also where services are not', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: backend,
      limits: { ...person, readsPerSecond: 0.5 },
    });
    const send = (n: number) => post(`${url}/send`, { sessionId: `s${n}`, message: 'hi' }, as('ada'));
    expect([(await send(1)).status, (await send(2)).status, (await send(1)).status]).to.deep.equal([
      200, 200, 429,
    ]);
    expect([
      (await get(`${url}/apps`, as('ada'))).status,
      (await get(`${url}/apps`, as('ada'))).status,
    ]).to.deep.equal([200, 429]);
    for (let n = 0; n < 2; n++) await openStream(`${url}/events`, { headers: as('ada') });
    expect((await get(`${url}/events`, as('ada'))).status).to.equal(429);
  });

  it('shared.sends, shared.invokes, shared.reads and shared.sessions bound them', async () => {
    const shared = { sendsPerSecond: 1, invokesPerSecond: 0.5, readsPerSecond: 0.5, sessions: 1 };
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'none' },
      methods: { ping: () => 1 },
      limits: { shared },
    });
    const send = (sessionId: string) => post(`${url}/send`, { sessionId, message: 'hi' });
    expect([(await send('a')).status, (await send('b')).status, (await send('a')).status]).to.deep.equal([
      200, 429, 429,
    ]);
    const twice = async (ask: () => Promise<{ status: number }>) => [
      (await ask()).status,
      (await ask()).status,
    ];
    expect(await twice(() => post(`${url}/invoke`, { method: 'ping' }))).to.deep.equal([200, 429]);
    expect(await twice(() => get(`${url}/apps`))).to.deep.equal([200, 429]);
  });

  it('may do what one person may, where that is more and limits.shared is silent', () => {
    const sharedOf = (limits: GatewayConfig['limits']) => parseConfig({ app: echo, limits }).limits.shared;
    expect(sharedOf({})).to.deep.equal(DEFAULT_LIMITS.shared);
    expect(
      sharedOf({
        connectionsPerUser: 20_000,
        sessionsPerUser: 200_000,
        sendsPerSecond: 2000,
        invokesPerSecond: Number.POSITIVE_INFINITY,
        readsPerSecond: 20_000,
        uploadsPerSecond: 2000,
        userBytes: 2 ** 40,
        userFileBytes: 2 ** 41,
      }),
    ).to.deep.equal({
      connections: 20_000,
      sessions: 200_000,
      sendsPerSecond: 2000,
      invokesPerSecond: Number.POSITIVE_INFINITY,
      readsPerSecond: 20_000,
      uploadsPerSecond: 2000,
      bytes: 2 ** 40,
      fileBytes: 2 ** 41,
    });
    expect(sharedOf({ sendsPerSecond: 2000, shared: { sendsPerSecond: 3 } }).sendsPerSecond).to.equal(3);
  });
});

describe('quotas in bytes', () => {
  const big = 'x'.repeat(3000);
  for (const [name, makeStore] of Object.entries(ENGINES_AND_LATE)) {
    it(`sessionBytes: a session that is full takes no more, another one does (${name})`, async () => {
      const { url } = await startGateway({
        app: echo,
        auth: byName,
        store: makeStore(),
        limits: { sessionBytes: 10_000 },
      });
      const send = (sessionId: string) => post(`${url}/send`, { sessionId, message: big }, as('ada'));
      let sent = 0;
      while ((await send('main')).status === 200) sent += 1;
      expect(sent).to.be.within(1, 4);
      const { status, body } = await send('main');
      expect([status, body.error.code, body.error.details.limit]).to.deep.equal([
        507,
        'QUOTA_EXCEEDED',
        'sessionBytes',
      ]);
      expect(body.error).not.to.have.property('retryable');
      const channel = await post(
        `${url}/channel`,
        { sessionId: 'main', channel: 'c', payload: 1 },
        as('ada'),
      );
      expect(channel.status).to.equal(507);
      expect((await get(`${url}/history?sessionId=main`, as('ada'))).status).to.equal(200);
      expect((await send('other')).status).to.equal(200);
    });

    it(`userBytes: closed sessions count, another user's do not (${name})`, async () => {
      const { url } = await startGateway({
        app: echo,
        auth: byName,
        store: makeStore(),
        limits: { userBytes: 30_000 },
      });
      const send = (sessionId: string, user = 'ada') =>
        post(`${url}/send`, { sessionId, message: big }, as(user));
      let n = 0;
      for (; (await send(`s${n}`)).status === 200; n++)
        await post(`${url}/close`, { sessionId: `s${n}` }, as('ada'));
      expect(n).to.be.within(2, 8);
      expect((await send('one-more')).body.error.details.limit).to.equal('userBytes');
      expect((await send('main', 'bob')).status).to.equal(200);
    });
  }

  it('are remembered over a restart', async () => {
    const path = newDatabase();
    const limits = { userBytes: 5000 };
    const first = await startGateway({ app: echo, auth: byName, store: sqliteStore({ path }), limits });
    const send = (url: string) =>
      post(`${url}/send`, { sessionId: 'main', message: big, idempotencyKey: 'k' }, as('ada'));
    expect((await send(first.url)).status).to.equal(200);
    await first.gateway.close();
    const second = await startGateway({ app: echo, auth: byName, store: sqliteStore({ path }), limits });
    const other = await post(`${second.url}/send`, { sessionId: 'other', message: 'hi' }, as('ada'));
    expect([other.status, other.body.error.code]).to.deep.equal([507, 'QUOTA_EXCEEDED']);
    expect((await send(second.url)).status, 'a retry is answered').to.equal(200);
  });

  it('of a scope that users share are those of limits.shared', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: byName,
      sessionScope: 'tenant',
      limits: { userBytes: 100, shared: { bytes: 5000 } },
    });
    const send = (user: string) => post(`${url}/send`, { sessionId: 'main', message: big }, as(user));
    expect((await send('acme/ada')).status).to.equal(200);
    expect((await send('acme/bob')).status).to.equal(507);
    expect((await send('other/ada')).status).to.equal(200);
  });
});

describe('limits of an address', () => {
  it('requestsPerAddress: counts what is in progress before anybody knows who it is', async () => {
    const { url, log, gateway } = await startGateway({
      app: echo,
      trustProxy: true,
      limits: { requestsPerAddress: 3 },
    });
    const blocked: any[] = [];
    gateway.on('address:blocked', (it) => blocked.push(it));
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '198.51.100.7' };
    const streams = await Promise.all([1, 2].map(() => openStream(`${url}/events`, { headers })));
    const socket = await openWebSocket(url);
    await socket.connect();
    await openStream(`${url}/events`, { headers });
    const wrong = { ...headers, authorization: 'Bearer wrong' };
    const { status, body, headers: answered } = await get(`${url}/status`, wrong);
    expect([status, body.error.code]).to.deep.equal([429, 'TOO_MANY_CONNECTIONS']);
    expect(answered.get('retry-after')).to.equal('1');
    expect(blocked).to.deep.equal([{ address: '198.51.100.7', reason: 'limits.requestsPerAddress' }]);
    expect(JSON.stringify(log.lines)).to.include('trustProxy');
    expect((await get(`${url}/status`, { 'x-forwarded-for': '198.51.100.8' })).status).to.equal(200);
    streams[0]!.close();
    for (;;) if ((await get(`${url}/status`, headers)).status === 200) break;
  });

  it('connectionsPerAddress: the next connection is cut, unless it comes from a trusted proxy', async () => {
    const limits = { connectionsPerAddress: 2 };
    for (const [trustProxy, served] of [
      [undefined, 2],
      ['loopback', 5],
    ] as const) {
      const { url } = await startGateway({ app: echo, trustProxy, limits });
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () =>
          openWebSocket(url).then(
            () => 'open',
            () => 'cut',
          ),
        ),
      );
      expect(outcomes.filter((it) => it === 'open')).to.have.length(served);
    }
  });
});
