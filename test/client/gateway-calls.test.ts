import { expect } from 'chai';
import { z } from 'zod';
import { isGuardError } from '../../client/index.js';
import { createGateway, GatewayError, getContext, method } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { collect, connectClient, failure, reaches, takeUntil } from '../support/client.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

const TASKS = { tasks: z.object({ id: z.number() }) };
const EVENTS = { 'task:created': z.object({ title: z.string() }) };

/** Only its type is used: what a client learns from its gateway. */
const typed = () =>
  createGateway({ app: echo, channels: TASKS, events: EVENTS, methods: { add: { to: addTo } } });
const addTo = method({
  schema: z.object({ a: z.number(), b: z.number().default(1) }),
  handler: ({ a, b }) => ({ sum: a + b }),
});

describe('the operations of a client', () => {
  it('reads sessions, history, status, apps and methods', async () => {
    const { url, gateway } = await startGateway({ apps: { echo, other: echo }, defaultApp: 'echo' });
    const client = connectClient(url);
    const { cursor } = await client.send('other:one', 'hello').result;
    await client.send('main', 'hi').result;
    const { sessions } = await client.sessions();
    expect(sessions.map(({ sessionId }) => sessionId)).to.have.members(['main', 'other:one']);
    const [page] = [await client.session('other:one').history({ limit: 1 })];
    expect(page!.messages.map(({ role }) => role)).to.deep.equal(['assistant']);
    const older = await client.session('other:one').history({ limit: 10, before: page!.cursor! });
    expect(older.messages.map(({ role }) => role)).to.deep.equal(['user']);
    expect(await client.status('other:one')).to.include({ sessionId: 'other:one', status: 'idle', cursor });
    expect(await client.session('other:one').status()).to.include({ app: 'other' });
    expect(await client.status()).to.include({ gatewayId: gateway.id, draining: false });
    expect((await client.apps()).apps.map(({ name }) => name)).to.deep.equal(['echo', 'other']);
    expect((await client.methods()).methods).to.deep.equal([]);
  });

  it('has methods as members, at any depth, for itself and for a session', async () => {
    const where = async () => getContext().metadata.sessionId ?? 'nowhere';
    const methods = { add: { to: addTo }, where, 'flat:key': where };
    const { gateway, url } = await startGateway({ app: echo, methods });
    const client = connectClient<typeof methods>(url);
    expect(await client.api.add.to({ a: 2, b: 3 })).to.deep.equal({ sum: 5 });
    expect(await client.api.add.to({ a: 2 })).to.deep.equal({ sum: 3 });
    expect(await client.api['flat:key']()).to.equal('nowhere');
    expect(await client.session('work').api.where()).to.equal('work');
    expect(await client.api.where(undefined, { sessionId: 'given' })).to.equal('given');
    // What awaits a member gets it, and calls nothing.
    expect(await client.api.add).to.be.a('function');
    const wrong = await failure(client.api.add.to({ a: 'two' } as never));
    expect(wrong.code).to.equal('INVALID_PARAMS');
    const untyped = connectClient(url);
    expect((await failure(untyped.api.add.from())).code).to.equal('METHOD_NOT_FOUND');
    expect(gateway.id).to.be.a('string');
  });

  it('calls methods in a session: what they publish there reaches its readers', async () => {
    const { url } = await startGateway({
      app: echo,
      methods: {
        where: async () => getContext().metadata.sessionId,
        async *count({ to }: { to: number }) {
          const { sessionId } = getContext().metadata;
          for (let i = 1; i <= to; i++) yield `${sessionId} ${i}`;
        },
        tell: async () => {
          await getContext().emit('told', { by: 'method' });
        },
      },
    });
    const session = connectClient(url).session('work');
    await session.send('begin').result;
    expect(await session.invoke('where')).to.equal('work');
    expect(await collect(session.stream('count', { to: 2 }))).to.deep.equal(['work 1', 'work 2']);
    const events = session.events({ from: 'now', types: ['custom'] });
    const told = events.next();
    await session.invoke('tell');
    expect((await told).value).to.include({ type: 'custom', name: 'told', sessionId: 'work' });
    await events.return?.();
    const failed = await failure(session.invoke('nowhere'));
    expect(failed.code).to.equal('METHOD_NOT_FOUND');
  });

  it('calls methods by their paths: results, defaults, absence, denials and faults', async () => {
    const { url } = await startGateway({
      app: echo,
      methods: {
        add: { to: addTo },
        nothing: async () => {},
        where: async () => getContext().metadata.sessionId,
        secret: method({ roles: ['admin'], handler: async () => 1 }),
        broken: async () => {
          throw new GatewayError({ code: 'SOLD_OUT', status: 409, message: 'No more', details: { left: 0 } });
        },
      },
    });
    const client = connectClient<ReturnType<typeof typed>>(url);
    expect(await client.invoke('add:to', { a: 2 })).to.deep.equal({ sum: 3 });
    const open = connectClient(url);
    expect(await open.invoke('nothing')).to.equal(undefined);
    expect(await open.invoke('where', {}, { sessionId: 'main' })).to.equal('main');
    const denied = await failure(open.invoke('secret'));
    expect(isGuardError(denied)).to.equal(true);
    expect(denied).to.include({ status: 403, guardType: 'role' });
    expect(await failure(open.invoke('broken'))).to.deep.include({
      code: 'SOLD_OUT',
      status: 409,
      message: 'No more',
      details: { left: 0 },
    });
    expect(await failure(open.invoke('add:to', { a: 'x' }))).to.include({
      code: 'INVALID_PARAMS',
      status: 400,
    });
    expect(await failure(open.invoke('none'))).to.include({ code: 'METHOD_NOT_FOUND', status: 404 });
  });

  it('streams a method, hears of its failure, and cancels it by leaving or by signal', async () => {
    const ended = [gate(), gate()];
    let calls = 0;
    const { url } = await startGateway({
      app: echo,
      methods: {
        count: async function* () {
          yield 1;
          yield { two: 2 };
        },
        fails: async function* () {
          yield 1;
          throw new GatewayError({ code: 'SOLD_OUT', status: 409, message: 'No more' });
        },
        endless: async function* () {
          const mine = ended[calls++]!;
          try {
            for (let n = 0; ; n++) {
              yield n;
              await new Promise(setImmediate);
            }
          } finally {
            mine.open();
          }
        },
      },
    });
    const client = connectClient(url);
    expect(await collect(client.stream('count'))).to.deep.equal([1, { two: 2 }]);
    expect(await failure(collect(client.stream('fails')))).to.include({ code: 'SOLD_OUT', status: 409 });
    expect(await failure(collect(client.stream('none')))).to.include({ code: 'METHOD_NOT_FOUND' });
    for await (const n of client.stream('endless')) if (n === 3) break;
    await ended[0]!.passed;
    const abort = new AbortController();
    const items = client.stream('endless', {}, { signal: abort.signal });
    expect((await items.next()).value).to.equal(0);
    abort.abort();
    expect(await failure(takeUntil(items, () => false))).to.include({ code: 'ABORTED', status: 0 });
    await ended[1]!.passed;
  });

  it('publishes on channels and receives what others publish and emit', async () => {
    const { url } = await startGateway({
      app: echo,
      channels: TASKS,
      events: EVENTS,
      methods: { make: async () => getContext().emit('task:created', { title: 'tea' }) },
    });
    const client = connectClient<ReturnType<typeof typed>>(url);
    const other = connectClient(url);
    const messages = client.channel('tasks')[Symbol.asyncIterator]();
    const events = client.events('main', { from: 'now', types: ['custom', 'channel'] });
    await reaches(client, 'open');
    const published = messages.next();
    await client.channel('tasks').publish({ id: 1 }, { type: 'added' });
    expect((await published).value).to.deep.equal({ type: 'added', payload: { id: 1 } });
    await other.session('main').channel('other').publish('x');
    await other.session('main').channel('tasks').publish({ id: 2 });
    expect((await messages.next()).value).to.deep.include({ payload: { id: 2 } });
    await other.invoke('make', {}, { sessionId: 'main' });
    const seen = await takeUntil(events, ({ type }) => type === 'custom');
    expect(seen.map((event) => (event.type === 'channel' ? event.channel : event.name))).to.deep.equal([
      'tasks',
      'other',
      'tasks',
      'task:created',
    ]);
    expect(await failure(other.session('main').channel('tasks').publish({ id: 'no' }))).to.include({
      code: 'INVALID_PARAMS',
    });
  });

  it('ends a conversation; the next send begins another one, and watchers follow', async () => {
    const { url } = await startGateway({ app: echo });
    const client = connectClient(url);
    const events = client.events('main');
    await client.send('main', 'one').result;
    expect(await client.close('main')).to.deep.equal({ ok: true });
    await client.send('main', 'two').result;
    const seen = await takeUntil(events, ({ type }) => type === 'snapshot');
    expect(seen.slice(-3).map(({ type }) => type)).to.deep.equal(['session_closed', 'gap', 'snapshot']);
    const next = await takeUntil(events, ({ type }) => type === 'message_end');
    expect(next[0]!.cursor).to.match(/\.1$/);
    expect((await client.session('main').history()).messages).to.have.length(2);
  });

  it('gives every call up on its signal and time limit', async () => {
    const never = gate();
    const { url } = await startGateway({ app: echo, methods: { hang: () => never.passed } });
    const client = connectClient(url);
    const abort = new AbortController();
    const calls = [
      client.invoke('hang', {}, { signal: abort.signal }),
      client.status(undefined, { signal: AbortSignal.abort() }),
      client.close('main', { signal: AbortSignal.abort() }),
      client.session('main').respond('c', {}, { signal: AbortSignal.abort() }),
    ];
    const failures = Promise.all(calls.map(failure));
    abort.abort();
    for (const error of await failures) expect(error).to.include({ code: 'ABORTED', status: 0 });
    expect(await failure(connectClient(url, { timeoutMs: 50 }).invoke('hang'))).to.have.property(
      'code',
      'TIMEOUT',
    );
    never.open();
  });

  it('keeps to itself what a stranger asks for, and says who is unknown', async () => {
    const { url } = await startGateway({ app: echo, auth: byName });
    const alice = connectClient(url, { token: 'alice' });
    const bob = connectClient(url, { token: undefined, headers: async () => ({ ...as('bob') }) });
    await alice.send('main', 'mine').result;
    expect(await failure(bob.session('main').history())).to.include({
      code: 'SESSION_NOT_FOUND',
      status: 404,
    });
    expect((await bob.sessions()).sessions).to.deep.equal([]);
    const nobody = connectClient(url, { token: 'bad' });
    expect(await failure(nobody.apps())).to.include({ code: 'UNAUTHENTICATED', status: 401 });
    expect(await failure(nobody.send('main', 'hi').result)).to.have.property('code', 'UNAUTHENTICATED');
    expect(await failure(nobody.events('main').next())).to.have.property('code', 'UNAUTHENTICATED');
    expect(nobody.connection).to.have.property('state', 'closed');
    expect(nobody.connection.error).to.have.property('code', 'UNAUTHENTICATED');
  });

  it('reaches the gateway through a base URL with a slash at its end, and says when nobody is there', async () => {
    const { url } = await startGateway({ app: echo });
    expect((await connectClient(`${url}/`).apps()).apps).to.have.length(1);
    const proxy = await CuttingProxy.start(url);
    proxy.cuts.push(1, 1, 1);
    const client = connectClient(proxy.url);
    expect(await failure(client.invoke('x'))).to.include({ code: 'NETWORK', status: 0, retryable: true });
    // Reads are repeated.
    expect((await client.apps()).apps).to.have.length(1);
    expect(proxy.cut).to.equal(3);
  });
});
