import { expect } from 'chai';
import { Gateway } from '../../server/index.js';
import { OPERATIONS } from '../../shared/operations.js';
import { echo } from '../support/apps.js';
import { startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { head, rawRequest } from '../support/raw-http.js';
import { closeLater } from '../support/resources.js';
import { upgrade } from './doors.js';

const bearer = { Authorization: `Bearer ${TOKEN}` };
const statusOf = async (url: string, line: string, headers: Record<string, string>): Promise<number> =>
  (await rawRequest(url, head(line, { ...bearer, ...headers }))).status;

async function embed(config: ConstructorParameters<typeof Gateway>[0]): Promise<string> {
  const gateway = closeLater(new Gateway({ embedded: true, logger: new TestLogger(), ...config }), (it) =>
    it.close(),
  );
  return listenOnLoopback((request, response) => gateway.handleRequest(request, response));
}

describe('row 2: a name that was rebound to this machine', () => {
  it('is answered on no route and no upgrade', async () => {
    const { url } = await startGateway({ app: echo });
    const { port } = new URL(url);
    const routes = [
      'GET /events',
      'GET /healthz',
      ...Object.values(OPERATIONS).map((it) => `${it.http} ${it.path}`),
    ];
    for (const route of routes) {
      expect(await statusOf(url, route, { Host: `evil.test:${port}` }), route).to.equal(403);
    }
    expect(await upgrade(url, { host: `evil.test:${port}` })).to.equal(403);
  });

  it('is not hidden behind a second Host header', async () => {
    const { url } = await startGateway({ app: echo });
    const { host } = new URL(url);
    for (const [first, second] of [
      [host, 'evil.test'],
      ['evil.test', host],
    ]) {
      const lines = head('GET /status', { ...bearer, Host: first! });
      const answer = await rawRequest(url, lines.replace('\r\n\r\n', `\r\nhOsT: ${second}\r\n\r\n`));
      expect(answer.status).to.equal(400);
    }
  });

  it('does not reach an embedded gateway without auth; a proxy and the names of loopback do', async () => {
    const url = await embed({ app: echo, auth: { type: 'none' } });
    const { port } = new URL(url);
    expect(await statusOf(url, 'GET /status', { Host: `evil.test:${port}` })).to.equal(403);
    expect(
      await statusOf(url, 'GET /status', { Host: `evil.test:${port}`, Origin: `http://evil.test:${port}` }),
    ).to.equal(403);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `my.localhost:${port}`])
      expect(await statusOf(url, 'GET /status', { Host: host }), host).to.equal(200);
    expect(
      await statusOf(url, 'GET /status', { Host: 'public.example', 'X-Forwarded-For': '198.51.100.1' }),
    ).to.equal(200);
  });

  it('allowedHosts is honoured embedded and on other hosts than loopback', async () => {
    const embedded = await embed({
      app: echo,
      auth: { type: 'token', token: TOKEN },
      allowedHosts: ['Gateway.Example'],
    });
    const { url } = await startGateway({ app: echo, host: '0.0.0.0', allowedHosts: ['gateway.example'] });
    for (const at of [embedded, url.replace('0.0.0.0', '127.0.0.1')]) {
      expect(await statusOf(at, 'GET /status', { Host: 'gateway.example' })).to.equal(200);
      expect(await statusOf(at, 'GET /status', { Host: 'localhost' }), 'health checks').to.equal(200);
      expect(await statusOf(at, 'GET /status', { Host: 'evil.test' })).to.equal(403);
    }
  });
});
