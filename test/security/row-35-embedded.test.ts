import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { gatewayMiddleware } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { head, rawRequest, WEBSOCKET_UPGRADE } from '../support/raw-http.js';
import { openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';

const H2C = {
  Upgrade: 'h2c',
  'HTTP2-Settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
  Connection: 'Upgrade, HTTP2-Settings, close',
};

/** A host with pages, CORS, errors and bodies of its own. */
function makeHost(): express.Express {
  const app = express();
  app.disable('x-powered-by').set('etag', false);
  app.use((_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    next();
  });
  app.get('/', (_request, response) => void response.send('home'));
  app.get('/live/ws', (_request, response) => void response.send('a page about WebSockets'));
  app.post('/form', express.json({ limit: '5mb' }), (request, response) => void response.json(request.body));
  app.get('/fail', () => {
    throw new Error('teapot');
  });
  app.use(((error, _request, response, _next) => {
    response.status(418).send(error.message);
  }) satisfies express.ErrorRequestHandler);
  return app;
}

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater(server, (it) => {
    it.close();
    it.closeAllConnections();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const BODY = JSON.stringify({ text: 'x'.repeat(2 * 1024 * 1024) });
const POST = { Host: 'h', 'Content-Type': 'application/json', 'Content-Length': String(BODY.length) };
/** Requests of the host, each as the pieces of its bytes. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  'a page': [head('GET /', { Host: 'evil.test', Origin: 'https://evil.test' })],
  'a preflight': [
    head('OPTIONS /', { Host: 'h', Origin: 'https://a.test', 'Access-Control-Request-Method': 'PUT' }),
  ],
  'an error': [head('GET /fail', { Host: 'h' })],
  'nobody’s': [head('GET /none', { Host: 'h' })],
  'a path of slashes': [head(`GET ${'/'.repeat(10_000)}`, { Host: 'h' })],
  'a large body': [head('POST /form', POST), BODY],
  'a page for HTTP/2': [head('GET /', { Host: 'h', ...H2C })],
  'a large body for HTTP/2': [head('POST /form', { ...POST, ...H2C }), BODY],
  'a WebSocket that nobody has': [
    head('GET /', { Host: 'h', ...WEBSOCKET_UPGRADE, Connection: 'Upgrade, close' }),
  ],
};

/** What of an answer the gateway has no part in. */
const told = ({ headers, body }: { headers: string; body: string }): string =>
  `${headers.replace(/^Date: .*\r\n/m, '')}\n${body}`;

describe('threat row 35: a gateway in somebody else’s server', () => {
  for (const [name, pieces] of Object.entries(REQUESTS)) {
    it(`leaves as it is: ${name}`, async () => {
      const alone = await serve(makeHost());
      const gateway = gatewayMiddleware({
        app: echo,
        auth: { type: 'token', token: TOKEN },
        logger: new TestLogger(),
      });
      closeLater(gateway.gateway, (it) => it.close());
      const host = express().disable('x-powered-by').set('etag', false);
      const both = await serve(host.use('/agent', gateway).use(makeHost()));
      gateway.attach(both.server);
      const answer = await rawRequest(both.url, ...pieces);
      expect(told(answer)).to.equal(told(await rawRequest(alone.url, ...pieces)));
      // It is there all the same.
      await (await openWebSocket(both.url, '/agent/ws')).connect();
    });
  }

  it('gives the host’s answer to a WebSocket below a path that ends like ours', async () => {
    const gateway = gatewayMiddleware({
      app: echo,
      auth: { type: 'token', token: TOKEN },
      logger: new TestLogger(),
    });
    closeLater(gateway.gateway, (it) => it.close());
    const { server, url } = await serve(makeHost().use('/agent', gateway));
    gateway.attach(server);
    const { status, body } = await rawRequest(url, head('GET /live/ws', { Host: 'h', ...WEBSOCKET_UPGRADE }));
    expect([status, body]).to.deep.equal([200, 'a page about WebSockets']);
  });

  it('standalone: a request that asks for HTTP/2 is answered in HTTP/1.1, with its body', async () => {
    const { url } = await startGateway({ app: echo, methods: { echo: (params: never) => params } });
    const status = await rawRequest(url, head('GET /healthz', { Host: '127.0.0.1', ...H2C }));
    expect([status.status, status.body]).to.deep.equal([200, '{"ok":true}']);
    const body = JSON.stringify({ method: 'echo', params: 'x'.repeat(100_000) });
    const authorized = {
      Host: '127.0.0.1',
      Authorization: `Bearer ${TOKEN}`,
      'Content-Type': 'application/json',
    };
    const answer = await rawRequest(
      url,
      head('POST /invoke', { ...authorized, 'Content-Length': String(body.length), ...H2C }),
      body,
    );
    expect([answer.status, answer.body.length]).to.deep.equal([200, 100_002]);
  });
});
