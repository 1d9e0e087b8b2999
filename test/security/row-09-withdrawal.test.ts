import { expect } from 'chai';
import { type AuthConfig, defineApp, type GatewayConfig, method } from '../../server/index.js';
import { get, post, startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { openUnixSocket, openWebSocket, type RawSocket } from '../support/raw-socket.js';
import { openStream, postStream } from '../support/sse-client.js';
import { as } from '../support/users.js';
import { socketPath } from './doors.js';
import { forEver } from './endless-stream.js';

/** Users who can be withdrawn, lose roles and lose access to a session, at any time. */
class Directory {
  readonly withdrawn = new Set<string>();
  readonly unreachable = new Set<string>();
  roles: readonly string[] = ['watcher'];
  away = false;
  asked = 0;

  readonly auth: AuthConfig = {
    type: 'custom',
    cookies: false,
    validate: async (token) => {
      this.asked += 1;
      if (this.away) throw new Error('the directory is away');
      if (token === undefined || this.withdrawn.has(token)) return { valid: false };
      return { valid: true, user: { id: token, roles: this.roles } };
    },
  };

  readonly sessionAccess: NonNullable<GatewayConfig['sessionAccess']> = async (_user, { name }) =>
    !this.unreachable.has(name);
}

const app = defineApp({
  async *run(turn) {
    yield turn.text;
    if (turn.text === 'go on') await new Promise(() => {});
  },
});
const methods = { watch: method({ roles: ['watcher'], handler: forEver }) };

async function start(directory: Directory, config: GatewayConfig<any, any, any> = {}) {
  const { auth, sessionAccess } = directory;
  return startGateway({
    app,
    auth,
    sessionAccess,
    methods,
    limits: { revalidateMs: 60, heartbeatMs: 20, invokesPerSecond: Number.POSITIVE_INFINITY },
    ...config,
  });
}

const invokeStream = (url: string, name: string) =>
  postStream(`${url}/invoke`, { method: 'watch' }, { ...as(name), 'content-type': 'application/json' });
const chunk = ({ type }: { type?: string }) => type === 'chunk';

describe('row 9: what a caller has open ends with what let it in', () => {
  const sockets: [string, (url: string, path: string) => Promise<RawSocket>, number][] = [
    ['a WebSocket', (url) => openWebSocket(url), 4401],
    ['a Unix socket', (_url, path) => openUnixSocket(path), 0],
  ];

  for (const [name, open, code] of sockets) {
    it(`${name} of a withdrawn token is closed, and says why`, async () => {
      const directory = new Directory();
      const path = socketPath();
      const { url, gateway, log } = await start(directory, { socketPath: path });
      const withdrawn = new Hearing(gateway, 'caller:withdrawn');
      const mine = await open(url, path);
      const other = await open(url, path);
      await mine.connect({ token: 'alice' });
      await other.connect({ token: 'bob' });
      directory.withdrawn.add('alice');
      expect(await mine.closed).to.equal(code);
      expect(mine.frames.some(({ event }) => event === 'auth_expired')).to.equal(true);
      expect(await withdrawn.nth()).to.deep.include({ reason: 'validate did not return valid: true' });
      expect(JSON.stringify(log.lines)).to.include('a caller was withdrawn');
      expect((await other.ask('1', 'status')).ok, 'the other one goes on').to.equal(true);
    });

    it(`${name} calls with the roles that its user has now`, async () => {
      const directory = new Directory();
      const path = socketPath();
      const role = method({ handler: (_params, { user }) => user?.roles ?? [] });
      const { url } = await start(directory, { socketPath: path, methods: { role } });
      const socket = await open(url, path);
      await socket.connect({ token: 'alice' });
      expect((await socket.ask('1', 'role')).payload).to.deep.equal(['watcher']);
      directory.roles = [];
      for (let n = 2; ; n++) {
        const { payload } = await socket.ask(String(n), 'role');
        if (payload.length === 0) break;
      }
    });

    it(`a stream of a method over ${name} ends when its user loses the role`, async () => {
      const directory = new Directory();
      const path = socketPath();
      const { url } = await start(directory, { socketPath: path });
      const socket = await open(url, path);
      await socket.connect({ token: 'alice' });
      socket.say({ type: 'req', id: '1', method: 'watch' });
      await socket.until(chunk);
      directory.roles = [];
      const answer = await socket.until(({ type, id }) => type === 'res' && id === '1');
      expect([answer.ok, answer.error.code]).to.deep.equal([false, 'GUARD_DENIED']);
    });
  }

  it('event streams and streams of runs and methods over HTTP end', async () => {
    const directory = new Directory();
    const { url } = await start(directory);
    const events = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    const run = await postStream(
      `${url}/send`,
      { sessionId: 'main', message: 'go on' },
      { ...as('alice'), 'content-type': 'application/json' },
    );
    const stream = await invokeStream(url, 'alice');
    const stranger = await openStream(`${url}/events?sessionId=main`, { headers: as('bob') });
    await Promise.all([
      events.until(({ event }) => event === 'connected'),
      run.until(({ event }) => event === 'message_start'),
      stream.until(({ event }) => event === 'chunk'),
      stranger.until(({ event }) => event === 'connected'),
    ]);
    directory.withdrawn.add('alice');
    await Promise.all([events.ended, run.ended, stream.ended]);
    expect(events.events.at(-1)!.event).to.equal('auth_expired');
    expect(run.events.at(-1)!.event).to.equal('auth_expired');
    expect(stream.events.at(-1)!).to.deep.include({ event: 'fail' });
    expect(stream.events.at(-1)!.data.code).to.equal('UNAUTHENTICATED');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('bob'));
    await stranger.until(({ event }) => event === 'message_end');
  });

  it('access that is withdrawn ends the streams that follow the session, and no others', async () => {
    const directory = new Directory();
    const { url } = await start(directory);
    const open = (session: string) =>
      openStream(`${url}/events?sessionId=${session}`, { headers: as('alice') });
    const [secret, plain] = await Promise.all([open('secret'), open('plain')]);
    await Promise.all([secret, plain].map((stream) => stream.until(({ event }) => event === 'connected')));
    directory.unreachable.add('secret');
    await secret.ended;
    expect((await get(`${url}/events?sessionId=secret`, as('alice'))).status).to.equal(404);
    await post(`${url}/send`, { sessionId: 'plain', message: 'hi' }, as('alice'));
    await plain.until(({ event }) => event === 'message_end');
  });

  it('nobody is withdrawn because nobody can be asked', async () => {
    const directory = new Directory();
    const { url, gateway } = await start(directory);
    const errors = new Hearing(gateway, 'error');
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    await stream.until(({ event }) => event === 'connected');
    directory.away = true;
    await errors.nth(4);
    directory.away = false;
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    await stream.until(({ event }) => event === 'message_end');
  });

  it('tickets die with the token that got them', async () => {
    const directory = new Directory();
    const { url } = await start(directory, { limits: { revalidateMs: Number.POSITIVE_INFINITY } });
    const tickets = await Promise.all([1, 2].map(() => post(`${url}/ticket`, {}, as('alice'))));
    const at = (n: number) => `${url}/events?sessionId=main&token=${tickets[n]!.body.ticket}`;
    const stream = await openStream(at(0));
    const { id } = await stream.until(({ event }) => event === 'heartbeat');
    stream.close();
    directory.withdrawn.add('alice');
    expect((await get(at(0), { authorization: '', 'last-event-id': id! })).status).to.equal(401);
    expect((await get(at(1), { authorization: '' })).status).to.equal(401);
    directory.withdrawn.clear();
    expect((await get(at(1), { authorization: '' })).status, 'for good').to.equal(401);
  });

  it('a call asks once a period, not once an event', async () => {
    const directory = new Directory();
    const { url } = await start(directory, { limits: { revalidateMs: 3_600_000 } });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    await stream.until(({ event }) => event === 'connected');
    const { asked } = directory;
    for (let n = 0; n < 5; n++) await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('bob'));
    expect(directory.asked - asked).to.equal(5);
  });
});

describe('gateway.disconnect', () => {
  it('ends all that a user has open now, and its tickets', async () => {
    const directory = new Directory();
    const { url, gateway } = await start(directory, { limits: { revalidateMs: 3_600_000 } });
    const { body } = await post(`${url}/ticket`, {}, as('alice'));
    const socket = await openWebSocket(url);
    await socket.connect({ token: 'alice' });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    const watching = await invokeStream(url, 'alice');
    const other = await openStream(`${url}/events?sessionId=main`, { headers: as('bob') });
    await Promise.all([
      stream.until(({ event }) => event === 'connected'),
      watching.until(({ event }) => event === 'chunk'),
      other.until(({ event }) => event === 'connected'),
    ]);
    expect(gateway.disconnect({ userId: 'alice' })).to.equal(3);
    expect(await socket.closed).to.equal(4401);
    await Promise.all([stream.ended, watching.ended]);
    expect((await get(`${url}/events?token=${body.ticket}`, { authorization: '' })).status).to.equal(401);
    expect(gateway.disconnect({ id: 'alice' })).to.equal(0);
    expect(gateway.disconnect({ id: 'bob', tenantId: 'elsewhere' }), 'another tenant').to.equal(0);
    expect(gateway.disconnect({ id: 'bob' })).to.equal(1);
    await other.ended;
  });
});
