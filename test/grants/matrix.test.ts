import { expect } from 'chai';
import { LEAST_ROLES } from '../../server/grants/roles.js';
import { GRANT_ROLES, type GrantRole, isAtLeast } from '../../shared/grants.js';
import { OPERATIONS } from '../../shared/operations.js';
import { get, jsonHeaders, post } from '../support/gateway.js';
import { openUnixSocket, openWebSocket, type RawSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';
import { openStream } from '../support/sse-client.js';
import { as } from '../support/users.js';
import { begin } from './cast.js';
import { type Asked, paramsOf } from './matrix.js';

/** What tells the answers to a caller apart: the code of the error, or that there was none. */
type Ask = (name: Asked, sessionId: string) => Promise<string>;
type Started = Awaited<ReturnType<typeof start>>;

const start = async (config = {}) => {
  const socketPath = `${socketDirectory()}/gateway.sock`;
  const started = await begin({
    socketPath,
    methods: { ping: async () => 'pong' },
    shareLinks: { upTo: 'operator' },
    clientMessages: { import: true },
    limits: { sendsPerSecond: 10_000, readsPerSecond: 10_000, subscribesPerSecond: 10_000 },
    ...config,
  });
  return { ...started, socketPath };
};

/** The ways in, for a bearer of a token. */
const DOORS: Readonly<Record<string, (started: Started, token: string) => Promise<Ask>>> = {
  async http({ url }, token) {
    const stream = await openStream(`${url}/events`, { headers: as(token) });
    const { data } = await stream.until(({ event }) => event === 'connected');
    return async (name, sessionId) => {
      const params = paramsOf(sessionId, data.connectionId)[name];
      const path = name === 'events' ? '/events' : OPERATIONS[name].path;
      if (name === 'events' || OPERATIONS[name].http === 'GET') {
        const abort = new AbortController();
        const response = await fetch(
          `${url}${path}?${new URLSearchParams(params as Record<string, string>)}`,
          {
            headers: as(token),
            signal: abort.signal,
          },
        );
        if (response.status === 200) {
          abort.abort();
          return 'ok';
        }
        return (await response.json()).error.code;
      }
      const { body } = await post(`${url}${path}`, params, as(token));
      return body?.error?.code ?? 'ok';
    };
  },
  webSocket: async ({ url }, token) => asking(await openWebSocket(url), token),
  unixSocket: async ({ socketPath }, token) => asking(await openUnixSocket(socketPath), token),
};

async function asking(socket: RawSocket, token: string): Promise<Ask> {
  await socket.connect({ token });
  let count = 0;
  return async (name, sessionId) => {
    // A socket follows by `subscribe` alone, and it is its own connection.
    const { connectionId: _, ...params } = paramsOf(sessionId, '')[name === 'events' ? 'subscribe' : name];
    const { ok, error } = await socket.ask(`${++count}`, name === 'events' ? 'subscribe' : name, params);
    return ok ? 'ok' : error.code;
  };
}

const ALL = Object.keys(paramsOf('', '')) as Asked[];
/** What is asked for is not there, or there is nothing to do it with: the caller was let through. */
const THROUGH = new Set([
  'ok',
  'RUN_NOT_FOUND',
  'CALL_NOT_FOUND',
  'SESSION_EXISTS',
  'MESSAGE_NOT_FOUND',
  'INVALID_PARAMS',
  // Who is present has to follow it first.
  'CONNECTION_NOT_FOUND',
]);
/** In an order in which none takes away what the next one needs. */
const rolesFor = (name: Asked): GrantRole | 'owner' => LEAST_ROLES[name === 'subscribe' ? 'events' : name];

describe('the table of roles', () => {
  it('has each operation, and the events and tools of sessions', () => {
    expect(Object.keys(LEAST_ROLES).sort()).to.deep.equal(
      [...Object.keys(OPERATIONS), 'events', 'tool-call', 'compact', 'notify', 'run-webhooks'].sort(),
    );
    const others = Object.keys(OPERATIONS).filter((name) => !ALL.includes(name as Asked));
    expect(others.sort()).to.deep.equal('apps inbox methods openapi push sessions ticket usage'.split(' '));
  });
});

for (const [door, open] of Object.entries(DOORS)) {
  describe(`isolation of shared sessions over ${door}`, () => {
    for (const role of GRANT_ROLES) {
      for (const kind of ['user', 'link'] as const) {
        it(`a ${role} by ${kind} does what the role allows, and is told so of the rest`, async () => {
          const started = await start();
          const { send, shared } = started;
          await send('hi');
          const grant = await shared({
            with: kind === 'user' ? { userId: 'ben' } : { link: true },
            as: role,
          });
          const ask = await open(started, grant.token ?? 'ben');
          for (const name of ALL) {
            const code = await ask(name, grant.sessionId);
            const least = rolesFor(name);
            if (least !== 'owner' && isAtLeast(role, least))
              expect(THROUGH, `${name}: ${code}`).to.include(code);
            else expect(code, name).to.equal('ACCESS_DENIED');
          }
          expect((await get(`${started.url}/history?sessionId=main`, started.ann)).status).to.equal(200);
        });
      }
    }

    it("a grant that was revoked, has expired, is somebody else's or was guessed is a session that there is not", async () => {
      const started = await start();
      const { send, shared, unshare, url } = started;
      await send('hi');
      const given = { with: { userId: 'ben' }, as: 'operator' } as const;
      const revoked = await shared(given);
      await unshare(revoked.grantId);
      const expired = await shared({ ...given, expiresInMs: 1 });
      const foreign = await shared({ ...given, with: { userId: 'cy' } });
      const link = await shared({ ...given, with: { link: true } });
      await new Promise((resolve) => setTimeout(resolve, 5));
      const ask = await open(started, 'ben');
      const guessed = [
        '~AAAAAAAAAAAAAAAAAAAAAA',
        '~',
        `~${'a'.repeat(128)}`,
        `~${revoked.grantId.slice(0, -1)}`,
      ];
      const names = [revoked, expired, foreign, link].map(({ sessionId }) => sessionId);
      for (const name of ALL) {
        for (const sessionId of [...names, guessed[0]!, guessed[2]!, guessed[3]!])
          expect(await ask(name, sessionId), `${name} of ${sessionId}`).to.equal('SESSION_NOT_FOUND');
        expect(await ask(name, '~')).to.equal('INVALID_REQUEST');
      }
      expect((await get(`${url}/sessions?shared=true`, as('ben'))).body.sessions).to.deep.equal([]);
      const { body } = await get(`${url}/history?sessionId=main`, started.ann);
      expect(body.messages).to.have.length(2);
    });

    it('a guest reaches the session of its link, and no other', async () => {
      const started = await start();
      const { send, shared, url, ann } = started;
      await send('hi');
      await send('hi', ann, 'other');
      const { token } = await shared({ with: { link: true }, as: 'operator' });
      const { body } = await post(
        `${url}/share`,
        { sessionId: 'other', with: { link: true }, as: 'operator' },
        ann,
      );
      const bens = await shared({ with: { userId: 'ben' }, as: 'operator' });
      const ask = await open(started, token!);
      for (const name of ALL)
        for (const sessionId of ['main', 'other', 'new', bens.sessionId, body.grant.sessionId])
          expect(await ask(name, sessionId), `${name} of ${sessionId}`).to.equal('SESSION_NOT_FOUND');
    });
  });
}

describe('a guest', () => {
  it('has nothing of the gateway itself but what its session needs', async () => {
    const { url, send, shared } = await start();
    await send('hi');
    const { token, sessionId } = await shared({ with: { link: true }, as: 'operator' });
    const guest = as(token!);
    const status = async (path: string) => (await get(`${url}/${path}`, guest)).status;
    for (const path of ['methods', 'openapi.json']) expect(await status(path), path).to.equal(403);
    expect((await post(`${url}/invoke`, { method: 'ping' }, guest)).body.error.code).to.equal(
      'ACCESS_DENIED',
    );
    const upload = await fetch(`${url}/files`, {
      method: 'POST',
      headers: { ...jsonHeaders(token), 'content-type': 'text/plain' },
      body: 'hi',
    });
    expect(upload.status).to.equal(403);
    expect((await get(`${url}/sessions`, guest)).body.sessions).to.deep.equal([]);
    const { body } = await get(`${url}/sessions?shared=true`, guest);
    expect(body.sessions.map((one: any) => one.sessionId)).to.deep.equal([sessionId]);
    expect((await get(`${url}/status`, guest)).body.user.id).to.match(/^guest_/);
  });
});
