import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import type { AuthConfig, MethodContext } from '../../../server/index.js';
import { echo } from '../../support/apps.js';
import { get, jsonHeaders, post, startGateway, TOKEN } from '../../support/gateway.js';
import { openStream } from '../../support/sse-client.js';
import { as, byName } from '../../support/users.js';
import { holdWallClock } from '../../support/wall-clock.js';

const SECRET = 'a-jwt-secret-of-at-least-32-bytes!';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const start = (auth: AuthConfig) =>
  startGateway({
    app: echo,
    auth,
    methods: { who: async (_params: undefined, { user }: MethodContext) => user },
  });

async function expectUnauthenticated(url: string, headers: Record<string, string>): Promise<void> {
  for (const path of ['status', 'sessions', 'events?sessionId=main']) {
    const answer = await get(`${url}/${path}`, { authorization: '', ...headers });
    expect(answer.status, path).to.equal(401);
    expect(answer.headers.get('www-authenticate'), path).to.equal('Bearer');
    expect(answer.body.error, path).to.include({ code: 'UNAUTHENTICATED' });
  }
}

const userOf = async (url: string, headers: Record<string, string>): Promise<unknown> =>
  (await post(`${url}/invoke`, { method: 'who' }, headers)).body;

describe('auth type none', () => {
  it('lets everyone in as anonymous, whatever token they show', async () => {
    const { url } = await start({ type: 'none' });
    expect(await userOf(url, { authorization: '' })).to.deep.equal({ id: 'anonymous' });
    expect(await userOf(url, bearer('anything'))).to.deep.equal({ id: 'anonymous' });
  });

  it('hydrateUser works with it', async () => {
    const { url } = await start({
      type: 'none',
      hydrateUser: async ({ user }) => ({ id: `${user.id}-1`, roles: ['guest'] }),
    });
    expect(await userOf(url, {})).to.deep.equal({ id: 'anonymous-1', roles: ['guest'] });
  });
});

describe('auth type token', () => {
  it('lets the bearer of the token in and nobody else', async () => {
    const { url } = await start({ type: 'token', token: TOKEN });
    expect(await userOf(url, bearer(TOKEN))).to.deep.equal({ id: 'token' });
    await expectUnauthenticated(url, {});
    await expectUnauthenticated(url, bearer(`${TOKEN}x`));
    await expectUnauthenticated(url, { authorization: `Basic ${TOKEN}` });
  });

  it('hydrateUser works with it, and a user can be named', async () => {
    const { url } = await start({
      type: 'token',
      token: TOKEN,
      user: { id: 'service' },
      hydrateUser: async ({ user }) => ({
        ...user,
        tenantId: 'acme',
        roles: ['robot'],
        email: 's@acme.test',
      }),
    });
    expect(await userOf(url, bearer(TOKEN))).to.deep.equal({
      id: 'service',
      tenantId: 'acme',
      roles: ['robot'],
      email: 's@acme.test',
    });
  });

  it('a rotated token is refused without a restart', async () => {
    let token = TOKEN;
    const { url } = await start({ type: 'token', token: () => token });
    expect((await get(`${url}/status`)).status).to.equal(200);
    token = 'another-token-of-more-than-32-bytes-now';
    expect((await get(`${url}/status`)).status).to.equal(401);
    expect((await get(`${url}/status`, bearer(token))).status).to.equal(200);
  });
});

describe('auth type jwt', () => {
  const sign = (claims: object, secret = SECRET, options: jwt.SignOptions = {}): string =>
    jwt.sign(claims, secret, { issuer: 'us', ...options });

  it('validates with the secret and checks the issuer', async () => {
    const { url } = await start({ type: 'jwt', secret: SECRET, issuer: 'us' });
    const user = (await userOf(
      url,
      bearer(sign({ sub: 'alice', roles: ['admin'], tenantId: 'acme' })),
    )) as Record<string, unknown>;
    expect(user).to.deep.include({ id: 'alice', roles: ['admin'], tenantId: 'acme' });
    const bad = [
      sign({ sub: 'alice' }, 'another-secret-of-at-least-32-bytes'),
      sign({ sub: 'alice' }, SECRET, { issuer: 'them' }),
      sign({ sub: 'alice', exp: 1000 }),
      sign({ roles: [] }),
    ];
    for (const token of bad) expect((await get(`${url}/status`, bearer(token))).status).to.equal(401);
    await expectUnauthenticated(url, bearer('nonsense'));
  });

  it('hydrateUser works with it', async () => {
    const { url } = await start({
      type: 'jwt',
      secret: SECRET,
      hydrateUser: async ({ user }) => ({ id: user.id, roles: ['hydrated'] }),
    });
    expect(await userOf(url, bearer(sign({ sub: 'alice' })))).to.deep.equal({
      id: 'alice',
      roles: ['hydrated'],
    });
  });

  it('a stream ends with auth_expired when its token runs out, and connected tells when that is', async () => {
    const letPass = holdWallClock();
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'jwt', secret: SECRET, clockToleranceSeconds: 0 },
      limits: { heartbeatMs: 20 },
    });
    const exp = Math.floor(Date.now() / 1000) + 60;
    const stream = await openStream(`${url}/events?sessionId=main`, {
      headers: bearer(sign({ sub: 'alice', exp })),
    });
    const { data } = await stream.until(({ event }) => event === 'connected');
    letPass(60_000);
    await stream.ended;
    expect(data.authExpiresAt).to.be.equal(exp * 1000);
    expect(stream.events.at(-1)!.event).to.equal('auth_expired');
  });
});

describe('auth type custom', () => {
  it('validate(token) decides; a throw refuses and is not told', async () => {
    const { url, log } = await start({
      type: 'custom',
      validate: async (token) => {
        if (token === 'good') return { valid: true, user: { id: 'alice' } };
        if (token === 'boom') throw new Error('secret text');
        return { valid: false };
      },
      hydrateUser: async ({ user }, { ip }) => ({ ...user, ip }),
    });
    expect(await userOf(url, bearer('good'))).to.deep.equal({ id: 'alice', ip: '127.0.0.1' });
    await expectUnauthenticated(url, {});
    const boom = await get(`${url}/status`, bearer('boom'));
    expect([boom.status, boom.body.error.code]).to.deep.equal([503, 'AUTH_UNAVAILABLE']);
    expect(boom.headers.get('retry-after')).to.equal('1');
    expect(JSON.stringify((await get(`${url}/status`, bearer('boom'))).body)).not.to.include('secret');
    expect(JSON.stringify(log.lines)).not.to.include('boom');
  });

  it('hydrateUser that fails, or returns no id, refuses', async () => {
    for (const [status, hydrateUser] of [
      [503, async () => Promise.reject(new Error('db'))],
      [401, async () => ({})],
      [401, async () => null],
    ] as any[]) {
      const { url } = await start({ ...byName, hydrateUser } as AuthConfig);
      expect((await get(`${url}/status`, as('alice'))).status).to.equal(status);
    }
  });

  it('validates from a cookie: same-origin requests pass, cross-site ones without an allowed Origin do not', async () => {
    const { url } = await start({
      type: 'custom',
      validate: async (_token, { headers }) =>
        headers.cookie === 'sid=1' ? { valid: true, user: { id: 'cookie' } } : { valid: false },
    });
    const cookie = { authorization: '', cookie: 'sid=1' };
    expect(await userOf(url, cookie)).to.deep.equal({ id: 'cookie' });
    expect(await userOf(url, { ...cookie, origin: url })).to.deep.equal({ id: 'cookie' });
    for (const foreign of [
      { origin: 'https://evil.test' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const answer = await post(`${url}/invoke`, { method: 'who' }, { ...cookie, ...foreign });
      expect([answer.status, answer.body.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
    }
  });
});

describe('a token in the query', () => {
  it('opens /events and no other route', async () => {
    const { url } = await start({ type: 'token', token: TOKEN });
    const stream = await openStream(`${url}/events?sessionId=main&token=${TOKEN}`);
    expect(stream.response.status).to.equal(200);
    for (const path of ['status', 'sessions', 'history?sessionId=main&x=1', 'apps', 'methods']) {
      const joined = `${url}/${path}${path.includes('?') ? '&' : '?'}token=${TOKEN}`;
      expect((await fetch(joined)).status, path).to.equal(401);
    }
    const send = await fetch(`${url}/send?token=${TOKEN}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(send.status).to.equal(401);
  });

  it('that is wrong is 401; the header wins over it', async () => {
    const { url, log } = await start({ type: 'token', token: TOKEN });
    const wrong = await get(`${url}/events?token=a-wrong-secret-token`, { authorization: '' });
    expect(wrong.status).to.equal(401);
    expect(JSON.stringify([wrong.body, log.lines])).not.to.include('a-wrong-secret-token');
    expect(
      (await openStream(`${url}/events?token=wrong`, { headers: jsonHeaders() })).response.status,
    ).to.equal(200);
  });
});

describe('POST /ticket', () => {
  it('gives a ticket that opens one stream as its holder, and serves its reconnects', async () => {
    const { url } = await start(byName);
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    const { body } = await post(`${url}/ticket`, {}, as('alice'));
    expect(body).to.have.all.keys('ticket', 'expiresAt');
    const query = `sessionId=main&from=earliest&token=${body.ticket}`;
    const stream = await openStream(`${url}/events?${query}`);
    const { id } = await stream.until(({ event }) => event === 'message_end');
    const second = await get(`${url}/events?${query}`, { authorization: '' });
    expect([second.status, second.body.error.code]).to.deep.equal([401, 'UNAUTHENTICATED']);
    const resumed = await openStream(`${url}/events?${query}`, { headers: { 'last-event-id': id! } });
    expect((await resumed.until(({ event }) => event === 'connected')).data.sessions.main).to.include({
      resume: 'exact',
    });
  });

  it('needs authentication, and a ticket is no token for other routes', async () => {
    const { url } = await start({ type: 'token', token: TOKEN });
    expect((await post(`${url}/ticket`, {}, { authorization: '' })).status).to.equal(401);
    const { body } = await post(`${url}/ticket`, {});
    expect((await get(`${url}/status`, bearer(body.ticket))).status).to.equal(401);
    expect((await get(`${url}/events?token=tkt_${'A'.repeat(43)}`, { authorization: '' })).status).to.equal(
      401,
    );
  });
});

describe('too many bad tokens', () => {
  it('are RATE_LIMITED with Retry-After, over routes and query alike; a good token known before passes', async () => {
    const { url } = await start({ type: 'token', token: TOKEN });
    expect((await get(`${url}/status`)).status).to.equal(200);
    for (let n = 0; n < 5; n++) {
      expect((await get(`${url}/status`, bearer(`wrong-${n}`))).status).to.equal(401);
      expect((await get(`${url}/events?token=bad-${n}`, { authorization: '' })).status).to.equal(401);
    }
    const limited = await get(`${url}/status`, { ...bearer('wrong-again'), 'x-forwarded-for': '9.9.9.9' });
    expect(limited.status).to.equal(429);
    expect(limited.body.error).to.include({ code: 'RATE_LIMITED', retryable: true });
    expect(Number(limited.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await get(`${url}/status`)).status).to.equal(200);
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
  });
});
