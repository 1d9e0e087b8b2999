import { expect } from 'chai';
import WebSocket from 'ws';
import { createFiles } from '../../client/files/index.js';
import { createClient } from '../../client/index.js';
import { createGateway, type GatewayConfig, type GatewayPlugin, isGatewayError } from '../../server/index.js';
import { metricsPlugin } from '../../server/plugins/metrics/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { echo } from '../support/apps.js';
import { alone, get, post, startGateway, TestLogger } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { head, rawRequest, WEBSOCKET_UPGRADE } from '../support/raw-http.js';
import { openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { as, byName } from '../support/users.js';

const MOUNT = '/team/agent';

/** A gateway with a port of its own, whose routes begin at a mount, and the URL of its server. */
async function mounted(config: GatewayConfig<any, any, any> = {}) {
  const { gateway, url } = await startGateway({
    app: echo,
    basePath: MOUNT,
    auth: byName,
    ...alone(),
    ...config,
  });
  return { gateway, url, root: new URL(url).origin };
}

function client(url: string, transport: 'sse' | 'websocket') {
  return closeLater(
    createClient({ baseUrl: url, transport, token: 'alice', WebSocket: WebSocket as never }),
    (it) => it.disconnect(),
  );
}

const sentence = async (url: string): Promise<string> => (await get(url)).body.error.message;

/** The error with which an upgrade is refused. */
async function refused(root: string, path: string): Promise<{ code: string; message: string }> {
  const { body } = await rawRequest(
    root,
    head(`GET ${path}`, { Host: new URL(root).host, ...WEBSOCKET_UPGRADE }),
  );
  return JSON.parse(body).error;
}

function refusal(config: Record<string, unknown>): { path: string; message: string } {
  try {
    createGateway({ app: echo, logger: new TestLogger(), ...config } as GatewayConfig);
  } catch (error) {
    if (isGatewayError(error)) return (error.details as { path: string; message: string }[])[0]!;
    throw error;
  }
  throw new Error('the configuration was taken');
}

describe('basePath of a gateway with its own port', () => {
  it('is in the URL that start() tells, and in front of every route, those of health too', async () => {
    const { url, root } = await mounted();
    expect(url).to.equal(`${root}${MOUNT}`);
    for (const path of ['/status', '/healthz', '/readyz', '/openapi.json'])
      expect([(await get(`${url}${path}`)).status, (await get(`${root}${path}`)).status], path).to.deep.equal(
        [200, 404],
      );
    expect((await get(`${root}/team/agents/status`)).status).to.equal(404);
    expect((await post(`${url}/send`, { sessionId: 'main', message: 'hi' })).body.stopReason).to.equal('end');
  });

  for (const transport of ['sse', 'websocket'] as const) {
    it(`serves a client over ${transport}, its tickets and files too`, async () => {
      const { url } = await mounted();
      const alice = client(url, transport);
      const { message } = await alice.send('main', 'hi').result;
      expect(message!.content).to.not.be.empty;
      const { ticket } = await alice.ticket();
      const events = await fetch(`${url}/events?token=${encodeURIComponent(ticket)}`);
      await events.body!.cancel();
      expect(events.status).to.equal(200);
      const files = createFiles({ baseUrl: url, token: 'alice' });
      const file = await files.upload(new Blob(['text'], { type: 'text/plain' }), { name: 'a.txt' });
      expect(file.url).to.equal(`${url}/files/${file.fileId}`);
      expect(await (await files.download(file.fileId)).text()).to.equal('text');
    });
  }

  it('is where bearers of share links read', async () => {
    const { url } = await mounted({ shareLinks: true });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    const asked = { sessionId: 'main', with: { link: true }, as: 'viewer' };
    const { grant, token } = (await post(`${url}/share`, asked, as('alice'))).body;
    const read = await get(`${url}/history?sessionId=${encodeURIComponent(grant.sessionId)}`, as(token));
    expect(read.body.messages).to.have.length(2);
  });

  it('is in front of upgrades, which are refused elsewhere in words that name it', async () => {
    const { root } = await mounted();
    const socket = await openWebSocket(root, `${MOUNT}/ws`);
    await socket.connect({ token: 'alice' });
    expect((await socket.ask('1', 'status')).ok).to.equal(true);
    expect(await refused(root, '/ws')).to.include({
      code: 'ROUTE_NOT_FOUND',
      message: `There is no /ws; the gateway's routes begin at ${MOUNT}`,
    });
  });

  it('is in front of the routes of plugins, the playground and its redirects', async () => {
    const { gateway, url, root } = await mounted();
    const plugin: GatewayPlugin = {
      name: 'tester',
      setup: ({ route, socket }) => {
        route('/extra/tool', ({ path, response }) => void response.end(JSON.stringify({ path })));
        socket('/extra/socket', ({ path, socket: it }) => {
          it.send(JSON.stringify({ type: 'opened', path }));
          return { message: () => {} };
        });
      },
    };
    gateway.use(plugin).use(playgroundPlugin());
    expect((await get(`${url}/extra/tool/deep`)).body).to.deep.equal({ path: '/extra/tool/deep' });
    expect((await get(`${root}/extra/tool`)).status).to.equal(404);
    const opened = await openWebSocket(root, `${MOUNT}/extra/socket`, as('alice'));
    expect((await opened.until(({ type }) => type === 'opened')).path).to.equal('/extra/socket');
    expect((await fetch(`${url}/playground`)).url).to.equal(`${url}/playground/`);
  });

  it('is where the OpenAPI document says that the gateway is', async () => {
    const { url } = await mounted({ extraRoutes: '/_more' });
    const asked = `${url}/_more/openapi.json`;
    const [server] = (await get(asked)).body.servers;
    expect(new URL(server.url, asked).href.replace(/\/$/, '')).to.equal(url);
  });

  it('has no part in what a host hands over', async () => {
    const { gateway } = await mounted();
    const host = await listenOnLoopback((request, response) =>
      gateway.handleRequest(request, response, { basePath: '/web' }),
    );
    expect((await get(`${host}/web/status`)).status).to.equal(200);
  });

  it('is checked at the start, and belongs to no embedded gateway', () => {
    for (const basePath of ['agent', '/agent/', '/', '/a//b', '/../a', '/a/.', '/a?b', 7])
      expect(refusal({ basePath }), String(basePath)).to.deep.equal({
        path: 'basePath',
        message: 'must be a path such as /agent, without a slash at its end',
      });
    expect(refusal({ basePath: '/agent', embedded: true })).to.deep.equal({
      path: 'basePath',
      message:
        'is for a gateway with its own port; a host says it with each request: handleRequest(request, response, { basePath })',
    });
    expect(() => createGateway({ app: echo, port: 0, basePath: '' })).to.not.throw();
  });
});

describe('the 404 of an unknown path', () => {
  it('names the path and the mount', async () => {
    const { url, root } = await mounted();
    expect(await sentence(`${root}/send?token=secret`)).to.equal(
      `There is no /send; the gateway's routes begin at ${MOUNT}`,
    );
    expect(await sentence(`${url}/sned`)).to.equal(
      `There is no ${MOUNT}/sned; the gateway's routes begin at ${MOUNT}`,
    );
  });

  it('tells of a mount that nobody strips', async () => {
    const { url } = await startGateway({ app: echo, ...alone() });
    const told = (path: string, mount: string) =>
      `There is no ${path}; the gateway's routes begin at /. If ${mount} is its mount, say so: basePath`;
    expect(await sentence(`${url}/agent/send`)).to.equal(told('/agent/send', '/agent'));
    expect(await sentence(`${url}/api/agent/files/f1`)).to.equal(told('/api/agent/files/f1', '/api/agent'));
    expect((await refused(url, '/agent/ws')).message).to.equal(told('/agent/ws', '/agent'));
    expect(await sentence(`${url}/agent/other`)).to.equal(
      "There is no /agent/other; the gateway's routes begin at /",
    );
  });

  it('knows the mount that a host names, or strips', async () => {
    const gateway = closeLater(createGateway({ app: echo, embedded: true, logger: new TestLogger() }), (it) =>
      it.close(),
    );
    const naming = await listenOnLoopback((request, response) =>
      gateway.handleRequest(request, response, { basePath: '/agent' }),
    );
    expect(await sentence(`${naming}/send`)).to.equal(
      "There is no /send; the gateway's routes begin at /agent",
    );
    const stripping = await listenOnLoopback((request, response) => {
      const { url = '/' } = request;
      Object.assign(request, { originalUrl: url, url: url.slice('/agent'.length) });
      gateway.handleRequest(request, response);
    });
    expect(await sentence(`${stripping}/agent/nope?a=1`)).to.equal(
      "There is no /agent/nope; the gateway's routes begin at /agent",
    );
  });

  it('shortens what is long, and is the same for a page of numbers that is hidden from an address', async () => {
    const { gateway, url, root } = await mounted();
    expect((await sentence(`${root}/${'a/'.repeat(2000)}send`)).length).to.be.below(250);
    const before = await sentence(`${url}/metrics`);
    gateway.use(metricsPlugin({ addresses: ['192.0.2.1'] }));
    expect(await sentence(`${url}/metrics`)).to.equal(before);
  });
});
