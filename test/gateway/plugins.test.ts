import { expect } from 'chai';
import { createGateway, GatewayError, type GatewayPlugin } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { post, startGateway, TestLogger } from '../support/gateway.js';
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
