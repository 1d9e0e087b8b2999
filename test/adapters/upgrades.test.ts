import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { WebSocketServer } from 'ws';
import { gatewayMiddleware, type MiddlewareOptions } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { TestLogger, TOKEN } from '../support/gateway.js';
import { listenWith } from '../support/host-server.js';
import { head, rawRequest, WEBSOCKET_UPGRADE } from '../support/raw-http.js';
import { openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

const UPGRADE = { Host: 'localhost', ...WEBSOCKET_UPGRADE };

function makeGateway(options?: MiddlewareOptions) {
  const auth = { type: 'token', token: TOKEN } as const;
  const router = gatewayMiddleware({ app: echo, auth, logger: new TestLogger() }, options);
  closeLater(router.gateway, (it) => it.close());
  return router;
}

async function serve(app: Express) {
  const server = createServer(app);
  return { server, url: await listenWith(server) };
}

for (const [name, host] of [
  ['Express 5', express],
  ['Express 4', express4],
] as const) {
  describe(`WebSockets below a mount of ${name}`, () => {
    it('are served wherever the router is mounted', async () => {
      const gateway = makeGateway();
      const inner = host.Router();
      inner.use('/agent', gateway);
      const { server, url } = await serve(host().use(host.json()).use('/:tenant/api', inner));
      gateway.attach(server);
      const socket = await openWebSocket(url, '/acme/api/agent/ws?x=1');
      await socket.connect();
      expect((await socket.ask('1', 'status')).ok).to.equal(true);
      // Requests are served as ever.
      expect((await fetch(`${url}/acme/api/agent/healthz`)).status).to.equal(200);
    });

    it('are for nobody whom the host does not name, where there is no auth', async () => {
      const options = { user: () => undefined };
      const gateway = gatewayMiddleware(
        { app: echo, auth: { type: 'none' }, logger: new TestLogger() },
        options,
      );
      closeLater(gateway.gateway, (it) => it.close());
      const { server, url } = await serve(host().use(gateway));
      gateway.attach(server);
      const socket = await openWebSocket(url);
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 } });
      expect((await socket.until(({ type }) => type === 'error')).code).to.equal('UNAUTHENTICATED');
      expect(await socket.closed).to.equal(4401);
    });

    it('have the user that the middleware of the host found, after its time', async () => {
      const gateway = makeGateway({ user: (request) => (request as { user?: { id: string } }).user });
      const app = host();
      app.use((request, _response, next) => {
        setImmediate(() => {
          Object.assign(request, { user: { id: String(request.headers['x-user'] ?? 'visitor') } });
          next();
        });
      });
      const { server, url } = await serve(app.use('/agent', gateway));
      gateway.attach(server);
      const socket = await openWebSocket(url, '/agent/ws');
      await socket.connect({ token: undefined });
      expect((await socket.ask('1', 'status')).payload.user).to.deep.equal({ id: 'visitor' });
    });

    it('are refused where the host refuses, and where nobody is', async () => {
      const gateway = makeGateway();
      const app = host();
      app.use('/agent', (_request, response) => void response.status(401).end('no'));
      const { server, url } = await serve(app.use('/agent', gateway).use('/ok', gateway));
      gateway.attach(server);
      for (const [path, status, connection] of [
        ['/agent/ws', 401, 'Upgrade'],
        ['/none/ws', 404, 'Upgrade'],
        // Served as a plain request, after which Node waits some seconds for another one unless it is told not to.
        ['/ok/other', 404, 'Upgrade, close'],
      ] as const) {
        const request = head(`GET ${path}`, { ...UPGRADE, Connection: connection });
        expect((await rawRequest(url, request)).status).to.equal(status);
      }
    });

    it('leave the upgrades of others alone', async () => {
      const gateway = makeGateway();
      const { server, url } = await serve(host().use('/agent', gateway));
      gateway.attach(server);
      const chat = closeLater(new WebSocketServer({ noServer: true }), (it) => it.close());
      server.on('upgrade', (request, socket, first) => {
        if (request.url !== '/chat/ws' && request.url !== '/agent/chat') return;
        chat.handleUpgrade(request, socket, first, (webSocket) => webSocket.send('{"type":"chat"}'));
      });
      for (const path of ['/chat/ws', '/agent/chat']) {
        expect(await (await openWebSocket(url, path)).until(() => true)).to.deep.equal({ type: 'chat' });
      }
      await (await openWebSocket(url, '/agent/ws')).connect();
    });

    it('survive a client that is gone before the host has looked at it', async () => {
      const gateway = makeGateway();
      const app = host();
      const arrived = gate<() => void>();
      let first = true;
      app.use((_request, _response, next) => {
        if (first) arrived.open(next);
        else next();
        first = false;
      });
      const { server, url } = await serve(app.use('/agent', gateway));
      gateway.attach(server);
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(head('GET /agent/ws', UPGRADE));
      const next = await arrived.passed;
      socket.resetAndDestroy();
      // Another client's whole conversation: by then the reset has arrived.
      await (await openWebSocket(url, '/agent/ws')).connect();
      next();
      await (await openWebSocket(url, '/agent/ws')).connect();
    });
  });
}
