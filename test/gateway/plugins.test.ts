import { expect } from 'chai';
import {
  createGateway,
  GatewayError,
  type GatewayPlugin,
  type PluginRequest,
  type RouteOptions,
} from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { get, post, startGateway, TestLogger } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

const plugin = (name: string, parts: Partial<GatewayPlugin> = {}): GatewayPlugin => ({
  name,
  setup: () => {},
  ...parts,
});

describe('gateway.use(plugin)', () => {
  it('gives it routes below the mount, authentication and bodies', async () => {
    const { gateway, url } = await startGateway({ app: echo, auth: byName });
    gateway.use(
      plugin('tester', {
        setup: ({ route, gatewayId }) =>
          route('/extra/tool', async (call) => {
            const { user } = await call.authenticate();
            const body = await call.body();
            call.response.end(JSON.stringify({ path: call.path, user: user.id, body, gatewayId }));
          }),
      }),
    );
    const answer = await post(`${url}/extra/tool/deep`, { a: 1 }, as('alice'));
    expect(answer.body).to.deep.equal({
      path: '/extra/tool/deep',
      user: 'alice',
      body: { a: 1 },
      gatewayId: gateway.id,
    });
    expect((await post(`${url}/extra/tool`, {}, as('bad'))).body.error.code).to.equal('UNAUTHENTICATED');
    expect((await post(`${url}/extra/toolbox`, {}, as('alice'))).status).to.equal(404);
    expect(
      (await post(`${url}/extra/tool`, {}, { ...as('alice'), origin: 'https://evil.test' })).status,
    ).to.equal(403);
  });

  it('starts it with the gateway, destroys it with close(), in reverse order, one failure aside', async () => {
    const calls: string[] = [];
    const gateway = createGateway({ app: echo, port: 0, logger: new TestLogger() });
    for (const name of ['first', 'second', 'third']) {
      gateway.use(
        plugin(name, {
          start: () => void calls.push(`start ${name}`),
          drain: () => {
            calls.push(`drain ${name}`);
            if (name === 'first') throw new Error('cannot');
          },
          destroy: () => {
            calls.push(`destroy ${name}`);
            if (name === 'second') throw new Error('cannot');
          },
        }),
      );
    }
    await gateway.start();
    await gateway.close();
    expect(calls).to.deep.equal([
      ...['start first', 'start second', 'start third'],
      ...['drain first', 'drain second', 'drain third'],
      ...['destroy third', 'destroy second', 'destroy first'],
    ]);
  });

  it('refuses a plugin twice and a path that is taken', async () => {
    const gateway = createGateway({ app: echo, port: 0 }).use(
      plugin('a', { setup: ({ route }) => route('/a', () => {}) }),
    );
    expect(() => gateway.use(plugin('a'))).to.throw(GatewayError, /already/);
    expect(() => gateway.use(plugin('b', { setup: ({ route }) => route('/a', () => {}) }))).to.throw(
      GatewayError,
      /taken/,
    );
  });

  it('tells it to drain before runs are given time to finish', async () => {
    const held = heldApp();
    const { gateway, url } = await startGateway({ app: held.app, limits: { drainMs: 10_000 } });
    gateway.use(plugin('letting go', { setup: () => {}, drain: () => held.held.open() }));
    const run = post(`${url}/send`, { sessionId: 'main', message: 'x' });
    await held.began.passed;
    await gateway.close();
    expect((await run).body.stopReason).to.equal('end');
  });

  it('has it shape the errors of its routes, also those that came before it, and tells it the limits', async () => {
    let heartbeatMs: number | undefined;
    const { gateway, url } = await startGateway({ app: echo, limits: { heartbeatMs: 1234 } });
    gateway.use(
      plugin('shaping', {
        setup: ({ route, limits }) => {
          ({ heartbeatMs } = limits);
          const fail: RouteOptions['fail'] = ({ code, message }, response) => {
            response.writeHead(418).end(JSON.stringify({ code, message }));
          };
          const handle = async (call: PluginRequest) => {
            await call.body();
            throw new Error('secret text');
          };
          route('/shaped', handle, { fail, methods: ['POST'] });
        },
      }),
    );
    const codes = [];
    for (const request of [
      get(`${url}/shaped`),
      post(`${url}/shaped`, {}, { origin: 'https://evil.test' }),
      post(`${url}/shaped`, {}, { 'content-type': 'text/plain' }),
      post(`${url}/shaped`, {}),
    ]) {
      const { status, body } = await request;
      codes.push([status, body.code]);
      expect(JSON.stringify(body)).not.to.include('secret text');
    }
    expect(codes).to.deep.equal([
      [418, 'METHOD_NOT_ALLOWED'],
      [418, 'ORIGIN_DENIED'],
      [418, 'UNSUPPORTED_MEDIA_TYPE'],
      [418, 'INTERNAL'],
    ]);
    expect(heartbeatMs).to.equal(1234);
  });

  it('answers for a plugin that throws', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    gateway.use(
      plugin('broken', {
        setup: ({ route }) =>
          route('/broken', () => {
            throw new Error('secret text');
          }),
      }),
    );
    const { status, body } = await post(`${url}/broken`, {});
    expect(status).to.equal(500);
    expect(body.error).to.include({ code: 'INTERNAL' });
    expect(JSON.stringify(body)).not.to.include('secret text');
  });
});
