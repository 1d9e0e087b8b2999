import { expect } from 'chai';
import { z } from 'zod';
import { GatewayError, method } from '../../server/index.js';
import { get, post } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { gatewayOf } from '../support/role-gateway.js';
import { as } from '../support/users.js';

const schema = z.object({ n: z.number() });
const handler = () => 'done';

describe('row 26: the order of checks', () => {
  it('is authentication, session, role, schema, guard, handler', async () => {
    const asked: string[] = [];
    const note = (what: string) => asked.push(what);
    const { url, invoke } = await gatewayOf({
      guarded: method({
        roles: ['admin'],
        schema: z.object({ n: z.number().refine(() => Boolean(note('schema'))) }),
        guard: () => Boolean(note('guard')),
        handler: () => note('handler'),
      }),
    });
    const good = { method: 'guarded', params: { n: 1 } };
    const bad = { method: 'guarded', params: { n: 'x' } };
    const unauthenticated = await post(`${url}/invoke`, bad, { authorization: '' });
    expect([unauthenticated.status, asked.splice(0)]).to.deep.equal([401, []]);
    expect([(await invoke({ ...bad, sessionId: 'nobody:x' }, 'root')).status, asked.splice(0)]).to.deep.equal(
      [404, []],
    );
    expect([(await invoke(bad, 'alice')).body.error.guardType, asked.splice(0)]).to.deep.equal(['role', []]);
    expect([(await invoke(bad, 'root')).body.error.code, asked.splice(0)]).to.deep.equal([
      'INVALID_PARAMS',
      [],
    ]);
    expect([(await invoke(good, 'root')).status, asked.splice(0)]).to.deep.equal([
      200,
      ['schema', 'guard', 'handler'],
    ]);
  });

  const guards: [string, (...args: any[]) => unknown][] = [
    ['says no', () => false],
    ['rejects with no', async () => false],
    ['answers a truthy text', () => 'yes'],
    ['answers a truthy object', async () => ({ allowed: true })],
    ['answers nothing', () => undefined],
    ['throws', () => expect.fail('secret /path')],
    ['rejects', async () => expect.fail('secret /path')],
    [
      'throws a coded error',
      () => {
        throw new GatewayError({ code: 'TEAPOT', status: 418 });
      },
    ],
  ];
  for (const [name, guard] of guards) {
    it(`a guard that ${name} denies, on HTTP and WebSocket, and tells nothing`, async () => {
      const { url, invoke } = await gatewayOf({
        guarded: method({ schema, guard: guard as () => boolean, handler }),
      });
      const http = await invoke({ method: 'guarded', params: { n: 1 } });
      const socket = await openWebSocket(url);
      await socket.connect({ token: 'alice' });
      const over = await socket.ask('1', 'guarded', { n: 1 });
      expect(http.status).to.equal(403);
      for (const error of [http.body.error, over.error]) {
        expect(error).to.include({ code: 'GUARD_DENIED', guardType: 'custom' });
        expect(JSON.stringify(error)).not.to.include('secret');
      }
    });
  }

  it('roles are compared exactly', async () => {
    const methods = Object.fromEntries(
      ['Admin', 'admi', 'admin ', 'administrator'].map((role, n) => [
        `m${n}`,
        method({ roles: [role], handler }),
      ]),
    );
    const { invoke } = await gatewayOf({ ...methods, real: method({ roles: ['admin'], handler }) });
    for (const name of Object.keys(methods))
      expect((await invoke({ method: name }, 'root')).status, name).to.equal(403);
    expect((await invoke({ method: 'real' }, 'root')).status).to.equal(200);
  });

  it('lists show each caller what it may call', async () => {
    const { url } = await gatewayOf({
      open: method({ handler }),
      admin: { only: method({ roles: ['admin'], handler }) },
    });
    for (const path of ['/methods', '/openapi.json']) {
      // More than once: what is kept for one caller must not be shown to another.
      for (let round = 0; round < 2; round++) {
        expect(JSON.stringify((await get(url + path, as('root'))).body), path).to.include('admin:only');
        expect(JSON.stringify((await get(url + path, as('alice'))).body), path).not.to.include('admin:only');
      }
    }
  });

  const silent = () => new Promise<boolean>(() => {});
  const guardedKinds = {
    'text/event-stream': method({ stream: true, guard: silent, async *handler() {} }),
    'application/json': method({ guard: silent, handler }),
  };
  for (const [accept, guarded] of Object.entries(guardedKinds)) {
    it(`a guard that is silent for longer than limits.guardMs denies what is asked for as ${accept}`, async () => {
      const { invoke } = await gatewayOf({ guarded }, { limits: { guardMs: 50 } });
      const { body } = await invoke({ method: 'guarded' }, 'alice', { accept });
      expect(body.error.code).to.equal('GUARD_DENIED');
    });
  }
});
