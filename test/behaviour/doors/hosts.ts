import { createAdaptorServer, getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { createGateway, type Gateway, type GatewayConfig } from '../../../server/index.js';
import { listenOnLoopback, listenWith } from '../../support/host-server.js';
import { closeLater } from '../../support/resources.js';
import { throughHost } from './door.js';

function embedded(config: GatewayConfig): Gateway<any, any, any> {
  return closeLater(createGateway({ ...config, embedded: true }), (it) => it.close());
}

/** Fastify parses the body and keeps it apart. */
export const fastify = throughHost('Fastify', async (config) => {
  const gateway = embedded(config);
  const host = Fastify({ forceCloseConnections: true });
  host.all('/api/agent/*', (request, reply) => {
    reply.hijack();
    gateway.handleRequest(request.raw, reply.raw, { basePath: '/api/agent', body: request.body });
  });
  closeLater(host, (it) => it.close());
  return { gateway, url: `${await host.listen({ host: '127.0.0.1', port: 0 })}/api/agent` };
});

/** Hono hands on Node's own request and response. */
export const hono = throughHost('Hono', async (config) => {
  const gateway = embedded(config);
  const host = new Hono<{ Bindings: HttpBindings }>();
  host.all('/api/agent/*', ({ env }) => {
    gateway.handleRequest(env.incoming, env.outgoing, { basePath: '/api/agent' });
    return RESPONSE_ALREADY_SENT;
  });
  const server = createAdaptorServer({ fetch: host.fetch }) as import('node:http').Server;
  return { gateway, url: `${await listenWith(server)}/api/agent` };
});

/** The same requests as `fetch` hosts see them. */
export const fetchDoor = throughHost('gateway.fetch', async (config) => {
  const gateway = embedded(config);
  const { fetch } = gateway;
  const url = await listenOnLoopback(
    getRequestListener((request) => fetch(request, { basePath: '/api/agent' })),
  );
  return { gateway, url: `${url}/api/agent` };
});
