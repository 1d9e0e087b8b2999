import { expect } from 'chai';
import { z } from 'zod';
import { GatewayError, getContext, type MethodContext, type MethodTree, method } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, jsonHeaders } from '../support/gateway.js';
import { gatewayOf } from '../support/role-gateway.js';
import { openStream } from '../support/sse-client.js';
import { as } from '../support/users.js';

describe('POST /invoke, the forms of a method', () => {
  const tree: MethodTree = {
    ping: async () => ({ pong: true }),
    add: async ({ a, b }: { a: number; b: number }) => a + b,
    tasks: {
      create: method({
        schema: z.object({ title: z.string().min(1) }),
        handler: async ({ title }) => ({ title }),
      }),
      admin: { archive: async () => 'archived' },
    },
    'reports:daily': async () => 'flat',
  };

  it('a simple function, without and with params', async () => {
    const { invoke } = await gatewayOf(tree);
    expect(await invoke({ method: 'ping' })).to.deep.include({ status: 200, body: { pong: true } });
    expect((await invoke({ method: 'add', params: { a: 1, b: 2 } })).body).to.equal(3);
  });

  it('a method definition and a namespace, nested to any depth', async () => {
    const { invoke } = await gatewayOf(tree);
    expect((await invoke({ method: 'tasks:create', params: { title: 'x' } })).body).to.deep.equal({
      title: 'x',
    });
    expect((await invoke({ method: 'tasks:admin:archive' })).body).to.equal('archived');
  });

  it('a flat key that contains colons', async () => {
    const { invoke } = await gatewayOf(tree);
    expect((await invoke({ method: 'reports:daily' })).body).to.equal('flat');
  });

  it('undefined is 204; null, false and empty text are JSON', async () => {
    const { invoke } = await gatewayOf({
      nothing: async () => undefined,
      null: async () => null,
      no: async () => false,
      empty: async () => '',
    });
    expect(await invoke({ method: 'nothing' })).to.deep.include({ status: 204, body: undefined });
    expect((await invoke({ method: 'null' })).body).to.equal(null);
    expect((await invoke({ method: 'no' })).body).to.equal(false);
    expect((await invoke({ method: 'empty' })).body).to.equal('');
  });

  it('a streaming method: chunk events, then end; fail where it breaks off', async () => {
    const { url } = await gatewayOf({
      count: async function* ({ to }: { to: number }) {
        for (let n = 1; n <= to; n++) yield { n };
      },
      breaks: async function* () {
        yield 1;
        throw new GatewayError({ code: 'OUT_OF_PAPER', message: 'No more', status: 507 });
      },
      crashes: async function* () {
        yield 1;
        throw new Error('secret text');
      },
    });
    const open = async (body: Record<string, unknown>) => {
      const init = {
        method: 'POST',
        headers: { ...jsonHeaders(), ...as('alice') },
        body: JSON.stringify(body),
      };
      const stream = await openStream(`${url}/invoke`, init);
      await stream.ended;
      const [ping, ...events] = stream.events.map(({ event, data }) => [event, data]);
      expect(ping).to.deep.equal(['ping', { heartbeatMs: 15_000 }]);
      return events;
    };
    expect(await open({ method: 'count', params: { to: 2 } })).to.deep.equal([
      ['chunk', { n: 1 }],
      ['chunk', { n: 2 }],
      ['end', {}],
    ]);
    const [first, [fails, why]] = (await open({ method: 'breaks' })) as [unknown, [string, any]];
    expect([first, fails]).to.deep.equal([['chunk', 1], 'fail']);
    expect(why).to.include({ code: 'OUT_OF_PAPER', message: 'No more', status: 507 });
    const [, [type, failure]] = (await open({ method: 'crashes' })) as [unknown, [string, any]];
    expect(type).to.equal('fail');
    expect(failure.code).to.equal('INTERNAL');
    expect(failure.requestId).to.be.a('string');
    expect(JSON.stringify(failure)).not.to.include('secret');
  });

  it('a streaming method is denied with its status, and cancelled when the caller goes', async () => {
    const [began, cancelled] = [gate(), gate()];
    const { url, invoke } = await gatewayOf({
      watch: method({
        roles: ['admin'],
        handler: async function* (_params: undefined, { signal }: MethodContext) {
          try {
            yield 1;
            began.open();
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          } finally {
            cancelled.open();
          }
        },
      }),
    });
    expect((await invoke({ method: 'watch' }, 'alice', { accept: '*/*' })).body.error).to.include({
      code: 'GUARD_DENIED',
      guardType: 'role',
    });
    const init = {
      method: 'POST',
      headers: { ...jsonHeaders(), ...as('root') },
      body: JSON.stringify({ method: 'watch' }),
    };
    const stream = await openStream(`${url}/invoke`, init);
    await stream.until(({ event }) => event === 'chunk');
    await began.passed;
    stream.close();
    await cancelled.passed;
  });

  it('GET /methods lists what the caller may call, with JSON Schemas', async () => {
    const { url } = await gatewayOf({
      ...tree,
      secret: method({ roles: ['admin'], handler: async () => 1 }),
    });
    const paths = async (user: string) =>
      (await get(`${url}/methods`, as(user))).body.methods.map(({ path }: any) => path);
    expect(await paths('alice')).to.deep.equal([
      'add',
      'ping',
      'reports:daily',
      'tasks:admin:archive',
      'tasks:create',
    ]);
    expect(await paths('root')).to.include('secret');
    const { body } = await get(`${url}/methods`, as('alice'));
    expect(body.version).to.equal(1);
    const create = body.methods.find(({ path }: any) => path === 'tasks:create');
    expect(create.params.properties.title).to.include({ type: 'string' });
  });
});

describe('POST /invoke, the fields of a method definition', () => {
  it('schema: params are validated and transformed, faults named by path', async () => {
    const { invoke } = await gatewayOf({
      m: method({
        schema: z.object({ n: z.coerce.number(), tag: z.string().default('t') }),
        handler: async (params) => params,
      }),
    });
    expect((await invoke({ method: 'm', params: { n: '5', more: 1 } })).body).to.deep.equal({
      n: 5,
      tag: 't',
    });
    const bad = await invoke({ method: 'm', params: { n: 'x' } });
    expect(bad.status).to.equal(400);
    expect(bad.body.error.code).to.equal('INVALID_PARAMS');
    expect(bad.body.error.details[0]).to.include({ path: 'n' });
  });

  it('roles: a role guard that denies is HTTP 403 GUARD_DENIED with guardType role', async () => {
    const { invoke } = await gatewayOf({
      m: method({ roles: ['admin', 'owner'], handler: async () => 'in' }),
    });
    const denied = await invoke({ method: 'm' });
    expect(denied.status).to.equal(403);
    expect(denied.body.error).to.include({ code: 'GUARD_DENIED', guardType: 'role' });
    expect((await invoke({ method: 'm' }, 'root')).body).to.equal('in');
  });

  it('guard: a custom guard that denies is HTTP 403 GUARD_DENIED with guardType custom; a throw denies and is not told', async () => {
    const { invoke } = await gatewayOf({
      no: method({ guard: async () => false, handler: async () => 1 }),
      throws: method({
        guard: () => {
          throw new Error('secret text');
        },
        handler: async () => 1,
      }),
      yes: method({ guard: async () => getContext().user?.id === 'root', handler: async () => 'in' }),
    });
    for (const name of ['no', 'throws', 'yes']) {
      const { status, body } = await invoke({ method: name });
      expect(status, name).to.equal(403);
      expect(body.error, name).to.include({ code: 'GUARD_DENIED', guardType: 'custom' });
      expect(JSON.stringify(body)).not.to.include('secret');
    }
    expect((await invoke({ method: 'yes' }, 'root')).body).to.equal('in');
  });

  it('guard: its first argument is the context, so that a guard of the context alone does not ask what the caller sent', async () => {
    const { invoke } = await gatewayOf({
      admin: method({
        guard: ({ user }) => user?.roles?.includes('admin') ?? false,
        handler: async () => 'in',
      }),
    });
    const params = { user: { id: 'root', roles: ['admin'] } };
    expect((await invoke({ method: 'admin', params })).body.error).to.include({ code: 'GUARD_DENIED' });
    expect((await invoke({ method: 'admin', params }, 'root')).body).to.equal('in');
  });

  it('called the wrong way, a method is not run, and the answer names the right one', async () => {
    let calls = 0;
    const { url } = await gatewayOf({
      plain: async () => ++calls,
      items: async function* () {
        yield ++calls;
      },
    });
    const call = (name: string, accept: string) =>
      fetch(`${url}/invoke`, {
        method: 'POST',
        headers: { ...jsonHeaders(), ...as('alice'), accept },
        body: JSON.stringify({ method: name }),
      });
    for (const [name, accept, remedy] of [
      ['items', 'application/json', 'items is a streaming method: call it with client.stream()'],
      ['plain', 'text/event-stream', 'plain is not a streaming method: call it with client.invoke()'],
    ] as const) {
      const response = await call(name, accept);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).to.deep.equal([400, 'INVALID_REQUEST']);
      expect(error.message).to.contain(remedy).and.contain('accept');
    }
    expect(calls).to.equal(0);
    for (const [name, type] of [
      ['items', 'text/event-stream'],
      ['plain', 'application/json'],
    ] as const) {
      for (const accept of ['*/*', 'application/json, text/event-stream', 'text/html', `${type};q=0.9`]) {
        const response = await call(name, accept);
        expect(response.headers.get('content-type'), `${name} ${accept}`).to.contain(type);
        await response.text();
      }
    }
  });

  it('bad params without the role are 403, not 400', async () => {
    const { invoke } = await gatewayOf({
      m: method({ roles: ['admin'], schema: z.object({ n: z.number() }), handler: async () => 1 }),
    });
    expect((await invoke({ method: 'm', params: {} })).status).to.equal(403);
    expect((await invoke({ method: 'm', params: {} }, 'root')).status).to.equal(400);
  });

  it("handler: the host's own GatewayError passes through; anything else is INTERNAL with a requestId that the log has", async () => {
    const { invoke, log } = await gatewayOf({
      mine: async () => {
        throw new GatewayError({ code: 'NO_CREDIT', status: 402, message: 'Buy more', details: { left: 0 } });
      },
      crash: async () => {
        throw new Error('secret /path');
      },
    });
    const mine = await invoke({ method: 'mine' });
    expect(mine.status).to.equal(402);
    expect(mine.body.error).to.deep.include({ code: 'NO_CREDIT', message: 'Buy more', details: { left: 0 } });
    const crash = await invoke({ method: 'crash' });
    expect(crash.status).to.equal(500);
    expect(crash.body.error).to.have.all.keys('code', 'message', 'status', 'requestId');
    expect(JSON.stringify(crash.body)).not.to.include('secret');
    expect(log.lines.at(-1)!.message).to.include(crash.body.error.requestId);
  });

  it('a result that is no JSON is INTERNAL', async () => {
    const { invoke } = await gatewayOf({ big: async () => ({ n: 1n }), date: async () => new Date(0) });
    expect((await invoke({ method: 'big' })).body.error).to.include({ code: 'INTERNAL' });
    expect((await invoke({ method: 'date' })).body).to.equal('1970-01-01T00:00:00.000Z');
  });
});
