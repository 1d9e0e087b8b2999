import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import type { JwksOptions } from '../../server/auth/types.js';
import type { AuthConfig, MethodContext } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway } from '../support/gateway.js';
import { KeyServer, type SigningKey, signingKey } from '../support/key-server.js';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function start(jwksUri: string, jwks: JwksOptions = {}, more: object = {}) {
  return startGateway({
    app: echo,
    auth: { type: 'jwt', jwksUri, jwks, issuer: 'us', ...more } as AuthConfig,
    methods: { who: async (_params: undefined, { user }: MethodContext) => user },
  });
}

const signed = (key: SigningKey, sub = 'ada', header = {}) => key.sign({ sub, iss: 'us' }, header);

async function statusOf(url: string, token: string): Promise<number> {
  return (await get(`${url}/status`, bearer(token))).status;
}

const refusedFetches = (log: { readonly lines: readonly { readonly details: unknown }[] }) =>
  log.lines.filter(({ details }) => String((details as { err?: unknown }).err).includes('auth.jwksUri'));

describe('jwt authentication with published keys', () => {
  for (const algorithm of ['RS256', 'ES256', 'EdDSA']) {
    it(`takes ${algorithm} without being told, and asks for the keys once`, async () => {
      const key = await signingKey('a', algorithm);
      const server = await KeyServer.start(key);
      const { url } = await start(server.uri);
      const answers = await Promise.all(
        ['ada', 'bob', 'eve'].map(async (id) =>
          post(`${url}/invoke`, { method: 'who' }, bearer(await signed(key, id))),
        ),
      );
      expect(answers.map(({ body }) => body.id)).to.deep.equal(['ada', 'bob', 'eve']);
      expect(server.asked).to.equal(1);
    });
  }

  it('refuses what is signed with a key of another, with a shared secret made of a public one, and not at all', async () => {
    const [key, other] = [await signingKey('a'), await signingKey('a')];
    const server = await KeyServer.start(key);
    const { url } = await start(server.uri);
    const claims = { sub: 'ada', iss: 'us' };
    const forged = jwt.sign(claims, JSON.stringify(key.published), { keyid: 'a' });
    const unsigned = jwt.sign(claims, '', { algorithm: 'none', keyid: 'a' });
    for (const token of [await signed(other), forged, unsigned, await key.sign({ sub: 'ada', iss: 'them' })])
      expect(await statusOf(url, token)).to.equal(401);
    expect(await statusOf(url, await signed(key))).to.equal(200);
    expect(server.asked).to.equal(1);
  });

  it('follows a rotation: a key it does not know has the keys fetched again, an old one goes with them', async () => {
    const [old, next] = [await signingKey('old'), await signingKey('next', 'ES256')];
    const server = await KeyServer.start(old);
    const { url } = await start(server.uri, { cooldownMs: 0 });
    expect(await statusOf(url, await signed(old))).to.equal(200);
    expect(await statusOf(url, await signed(next))).to.equal(401);
    server.publish(old, next);
    expect(await statusOf(url, await signed(next))).to.equal(200);
    expect(await statusOf(url, await signed(old))).to.equal(200);
    server.publish(next);
    expect(await statusOf(url, await signed(old, 'ada', { kid: 'unknown' }))).to.equal(401);
    expect(await statusOf(url, await signed(old))).to.equal(401);
  });

  it('fetches keys again when they are old, so that one that was withdrawn is refused', async () => {
    const [old, next] = [await signingKey('old'), await signingKey('next')];
    const server = await KeyServer.start(old);
    const { url } = await start(server.uri, { maxAgeMs: 0, cooldownMs: 0 });
    const token = await signed(old);
    expect(await statusOf(url, token)).to.equal(200);
    server.publish(next);
    expect(await statusOf(url, token)).to.equal(401);
  });

  it('does not ask again for every made-up key', async () => {
    const key = await signingKey('a');
    const server = await KeyServer.start(key);
    const { url } = await start(server.uri);
    expect(await statusOf(url, await signed(key))).to.equal(200);
    const made = Array.from({ length: 8 }, (_, n) => signed(key, 'ada', { kid: `made-up-${n}` }));
    for (const token of await Promise.all(made)) expect(await statusOf(url, token)).to.equal(401);
    expect(server.asked).to.equal(1);
    expect(await statusOf(url, await signed(key))).to.equal(200);
  });

  for (const [how, fail] of [
    ['down', (server: KeyServer) => server.goesDown()],
    ['hanging', (server: KeyServer) => server.hangs()],
  ] as const) {
    it(`keeps the keys it knows while the server is ${how}, and tells the log`, async () => {
      const [key, next] = [await signingKey('a'), await signingKey('b')];
      const server = await KeyServer.start(key);
      const { url, log } = await start(server.uri, { timeoutMs: 300, cooldownMs: 0, maxAgeMs: 0 });
      const token = await signed(key);
      expect(await statusOf(url, token)).to.equal(200);
      fail(server);
      const before = server.asked;
      for (let n = 0; n < 3; n++) expect(await statusOf(url, token)).to.equal(200);
      expect(server.asked).to.be.above(before);
      expect(refusedFetches(log)).to.not.deep.equal([]);
      server.publish(next);
      const later = await signed(next);
      // A fetch that was begun before ends first.
      let status = 503;
      while (status === 503) status = await statusOf(url, later);
      expect(status).to.equal(200);
      expect(await statusOf(url, token)).to.equal(401);
    });
  }

  it('cannot judge a key it does not know while the server is down: no 401, and no failed attempt', async () => {
    const [key, next] = [await signingKey('a'), await signingKey('b')];
    const server = await KeyServer.start(key);
    const { url, log } = await start(server.uri, { cooldownMs: 0 });
    expect(await statusOf(url, await signed(key))).to.equal(200);
    server.goesDown();
    for (let n = 0; n < 12; n++) expect(await statusOf(url, await signed(next))).to.equal(503);
    expect(await statusOf(url, await signed(key))).to.equal(200);
    expect(refusedFetches(log)).to.have.length(12);
    server.publish(key, next);
    expect(await statusOf(url, await signed(next))).to.equal(200);
  });

  for (const [what, fail] of [
    ['is down', (server: KeyServer) => server.goesDown()],
    ['answers with an error', (server: KeyServer) => server.answers((r) => r.writeHead(500).end('no'))],
    ['answers with a page', (server: KeyServer) => server.answers((r) => r.end('<!doctype html>'))],
    ['answers with no key set', (server: KeyServer) => server.answers((r) => r.end('{"keys":"none"}'))],
    [
      'leads elsewhere',
      (server: KeyServer) =>
        server.answers((r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()),
    ],
    [
      'never stops answering',
      (server: KeyServer) =>
        server.answers((r) => {
          const more = (): void => {
            while (!r.destroyed && r.write(' '.repeat(65_536)));
            r.once('drain', more);
          };
          more();
        }),
    ],
    ['hangs', (server: KeyServer) => server.hangs()],
  ] as const) {
    it(`answers AUTH_UNAVAILABLE when the server ${what}, and goes on when it is back`, async () => {
      const key = await signingKey('a');
      const server = await KeyServer.start(key);
      fail(server);
      const { url, log } = await start(server.uri, { timeoutMs: 300, cooldownMs: 0 });
      const token = await signed(key);
      const refused = await get(`${url}/status`, bearer(token));
      expect(refused.status).to.equal(503);
      expect(refused.body.error).to.include({ code: 'AUTH_UNAVAILABLE', retryable: true });
      expect(JSON.stringify(refused.body)).to.not.include(server.uri);
      expect(refusedFetches(log)).to.have.length(1);
      expect(JSON.stringify(log.lines)).to.not.include(token);
      server.publish(key);
      expect(await statusOf(url, token)).to.equal(200);
    });
  }

  it('asks a server that never answered not more than once a second', async () => {
    const key = await signingKey('a');
    const server = await KeyServer.start(key);
    server.goesDown();
    const { url } = await start(server.uri);
    const token = await signed(key);
    const began = performance.now();
    for (let n = 0; n < 20; n++) expect(await statusOf(url, token)).to.equal(503);
    expect(server.asked).to.be.at.most(1 + (performance.now() - began) / 1000);
  });
});
