import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  createGateway,
  type Gateway,
  type GatewayConfig,
  type OperationOptions,
} from '../../server/index.js';
import { echo } from '../support/apps.js';
import { failure } from '../support/client.js';
import { gate } from '../support/gate.js';
import { preflight, TestLogger } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

function embed(config: Partial<GatewayConfig<any>> = {}): Gateway<any, any, any> {
  const logger = new TestLogger();
  const limits = { drainMs: 200, ...config.limits };
  const gateway = createGateway({ app: echo, auth: byName, embedded: true, logger, ...config, limits });
  return closeLater(gateway, (it) => it.close());
}

/** A host that answers `/any/<operation>` in a way of its own. */
async function host(gateway: Gateway<any, any, any>, options: OperationOptions = {}): Promise<string> {
  const url = await listenOnLoopback((request, response) => {
    const name = new URL(request.url!, 'http://host').pathname.slice(5);
    gateway.handleOperation(name as 'status', request, response, options);
  });
  return `${url}/any`;
}

const json = { ...as('alice'), 'content-type': 'application/json', accept: 'application/json' };
const post = (url: string, body: object, headers: object = {}) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...json, ...headers } });

describe('gateway.handleOperation', () => {
  it('serves an operation at any URL as its own route would', async () => {
    const url = await host(embed());
    const sent = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect((await sent.json()).message.content[0].text).to.equal('echo: hi');
    const history = await fetch(`${url}/history?sessionId=main&limit=1`, { headers: as('alice') });
    expect((await history.json()).messages).to.have.length(1);
    const events = await openStream(`${url}/events?sessionId=main&from=earliest&token=alice`);
    await events.until(({ event }) => event === 'message_end');
    const method = await fetch(`${url}/send`, { headers: as('alice') });
    expect([method.status, method.headers.get('allow')]).to.deep.equal([405, 'POST']);
  });

  it('makes the checks that the route makes', async () => {
    const url = await host(embed({ origins: ['https://page.test'] }));
    expect((await fetch(`${url}/status`)).status).to.equal(401);
    expect((await post(`${url}/send`, {}, { origin: 'https://evil.test' })).status).to.equal(403);
    expect((await post(`${url}/send`, {}, { 'content-type': 'text/plain' })).status).to.equal(415);
    expect((await (await post(`${url}/send`, { sessionId: 5 })).json()).error.code).to.equal(
      'INVALID_PARAMS',
    );
    const allowed = await preflight(`${url}/send`, 'https://page.test');
    expect(allowed.headers.get('access-control-allow-methods')).to.equal('POST');
    const foreign = await host(embed(), { user: { id: 'host' }, params: { sessionId: 'main' } });
    expect((await fetch(`${foreign}/status`, { headers: { origin: 'https://evil.test' } })).status).to.equal(
      403,
    );
  });

  it('takes the user and the params from the host, whatever the request says', async () => {
    const gateway = embed();
    const user = { id: 'carol' };
    const send = await host(gateway, { user, params: { sessionId: 'main', message: 'from the host' } });
    const headers = { accept: 'application/json', authorization: 'Bearer bad' };
    const sent = await fetch(`${send}/send?sessionId=other`, { method: 'PUT', body: 'not json', headers });
    expect((await sent.json()).message.content[0].text).to.equal('echo: from the host');
    const { messages } = await gateway.session('main', { user }).history();
    expect(messages).to.have.length(2);
    const read = await host(gateway, { user, params: { sessionId: ['main', 'b'], from: 'earliest' } });
    const events = await openStream(`${read}/events?sessionId=c`);
    await events.until(({ event }) => event === 'message_end');
    expect(Object.keys(events.events[0]!.data.sessions)).to.deep.equal(['main', 'b']);
    const history = await host(gateway, { user, params: { sessionId: 'main', limit: 1 } });
    expect((await (await fetch(`${history}/history?limit=2`)).json()).messages).to.have.length(1);
    const own = await host(gateway, { params: { sessionId: 'main' } });
    expect((await fetch(`${own}/history`)).status).to.equal(401);
  });

  it('checks a body that the host parsed like its own', async () => {
    const gateway = embed({ methods: { echo: async (params: unknown) => params } });
    const parsed = JSON.parse('{"method":"echo","params":{"__proto__":{"admin":true}}}');
    const url = await host(gateway, { body: parsed });
    expect((await (await post(`${url}/invoke`, {})).json()).error.code).to.equal('INVALID_REQUEST');
    const good = await host(gateway, { body: { method: 'echo', params: [1] } });
    expect(await (await post(`${good}/invoke`, {})).json()).to.deep.equal([1]);
  });
});

describe('gateway.execute', () => {
  it('does an operation for a user, and refuses when it is not said for whom', async () => {
    const gateway = embed();
    const user = { id: 'alice' };
    await gateway.session('main', { user }).send('hi').result;
    expect(await gateway.execute('history', { sessionId: 'main' }, { user })).to.include({ hasMore: false });
    expect(
      await failure(gateway.execute('history', { sessionId: 'main' }, { user: { id: 'bob' } })),
    ).to.include({
      code: 'SESSION_NOT_FOUND',
    });
    expect(await failure(gateway.execute('apps', {}))).to.include({ code: 'INVALID_REQUEST' });
    expect(await failure(gateway.execute('history', {} as never, { user }))).to.include({
      code: 'INVALID_PARAMS',
    });
  });

  it('does it for who makes a request, with the checks of a route', async () => {
    const gateway = embed();
    const asked = async (headers: Record<string, string>, user?: { id: string }): Promise<any> => {
      const answer = gate<unknown>();
      const url = await listenOnLoopback((request: IncomingMessage, response: ServerResponse) => {
        const by = { request, response };
        gateway.execute('status', {}, { by, ...(user && { user }) }).then(answer.open, answer.open);
        response.end();
      });
      await fetch(url, { headers });
      return answer.passed;
    };
    expect((await asked(as('alice'))).user).to.deep.equal({ id: 'alice' });
    expect((await asked(as('alice'), { id: 'carol' })).user).to.deep.equal({ id: 'carol' });
    expect((await asked({})).code).to.equal('UNAUTHENTICATED');
    expect((await asked({ ...as('alice'), origin: 'https://evil.test' })).code).to.equal('ORIGIN_DENIED');
  });
});
