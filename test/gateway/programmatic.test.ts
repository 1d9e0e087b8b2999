import { expect } from 'chai';
import { createGateway, GatewayError } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway, TestLogger } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { byName } from '../support/users.js';

describe('the gateway as a program uses it', () => {
  it('start() twice starts once', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    expect(await gateway.start()).to.include({ url });
  });

  it('close() frees the port and tells stopped', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const stopped = new Hearing(gateway, 'stopped');
    await gateway.close();
    await stopped.nth();
    expect(await fetch(`${url}/healthz`).catch(() => 'refused')).to.equal('refused');
  });

  it('close() before start(), twice, and at the same time as start() is harmless', async () => {
    const fresh = createGateway({ app: echo, port: 0 });
    await fresh.close();
    await fresh.close();
    const racing = createGateway({ app: echo, port: 0 });
    const starting = racing.start();
    await Promise.all([racing.close(), racing.close()]);
    const { url } = await starting;
    expect(await fetch(`${url}/healthz`).catch(() => 'refused')).to.equal('refused');
  });

  it('handleRequest(req, res) serves one request in embedded mode and answers 404 for foreign paths', async () => {
    const gateway = closeLater(createGateway({ app: echo, embedded: true, logger: new TestLogger() }), (it) =>
      it.close(),
    );
    const url = await listenOnLoopback((request, response) => gateway.handleRequest(request, response));
    const sent = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(sent.status).to.equal(200);
    expect((await get(`${url}/nothing`)).body.error).to.include({ code: 'ROUTE_NOT_FOUND' });
  });

  it('handleRequest(req, res, { user }) trusts the user of the host', async () => {
    const gateway = closeLater(
      createGateway({ app: echo, embedded: true, auth: byName, logger: new TestLogger() }),
      (it) => it.close(),
    );
    const url = await listenOnLoopback((request, response) =>
      gateway.handleRequest(request, response, { user: { id: String(request.headers['x-host-user']) } }),
    );
    const status = await fetch(`${url}/status`, { headers: { 'x-host-user': 'carol' } });
    expect(((await status.json()) as any).user).to.deep.equal({ id: 'carol' });
    await fetch(`${url}/send`, {
      method: 'POST',
      headers: { 'x-host-user': 'carol', 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ sessionId: 'main', message: 'hi' }),
    });
    const history = await gateway.session('main', { user: { id: 'carol' } }).history();
    expect(history.messages).to.have.length(2);
  });

  it('handleRequest(req, res, { basePath }) serves below it and nothing beside it', async () => {
    const gateway = closeLater(createGateway({ app: echo, embedded: true, logger: new TestLogger() }), (it) =>
      it.close(),
    );
    const url = await listenOnLoopback((request, response) =>
      gateway.handleRequest(request, response, { basePath: '/api/agent' }),
    );
    expect((await get(`${url}/api/agent/sessions?limit=1`)).status).to.equal(200);
    expect((await get(`${url}/status`)).status).to.equal(404);
    expect((await get(`${url}/api/agentx/status`)).status).to.equal(404);
    expect((await get(`${url}/api/agent`)).status).to.equal(404);
  });

  it('app(name) returns the application; an unknown one is APP_NOT_FOUND', () => {
    const gateway = createGateway({ app: echo, port: 0 });
    expect(gateway.app('default')).to.equal(echo);
    expect(() => gateway.app('constructor'))
      .to.throw(GatewayError)
      .with.property('code', 'APP_NOT_FOUND');
  });
});
