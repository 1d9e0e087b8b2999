// A gateway inside a Hono application, both ways: through Node's own request and response, and through fetch.
//   npx tsx examples/hono-host.ts
import type { Server } from 'node:http';
import { type HttpBindings, serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { createGateway, defineApp } from 'agent-session-gateway';
import { Hono } from 'hono';

export const gateway = createGateway({
  embedded: true,
  app: defineApp({
    async *run(turn) {
      for (const word of `You said: ${turn.text}`.split(' ')) yield `${word} `;
    },
  }),
  auth: { type: 'token', token: process.env.GATEWAY_TOKEN ?? 'example-token-please-change-this!' },
  methods: { ping: async () => ({ pong: true }) },
});
await gateway.start();

const host = new Hono<{ Bindings: HttpBindings }>();
host.get('/', (c) => c.text('The host’s own page'));
// On Node: nothing lies between the gateway and the socket.
host.all('/agent/*', (c) => {
  gateway.handleRequest(c.env.incoming, c.env.outgoing, { basePath: '/agent' });
  return RESPONSE_ALREADY_SENT;
});
// On any runtime with node:http: what middleware does to responses applies.
host.all('/web/*', (c) => gateway.fetch(c.req.raw, { basePath: '/web' }));

const server = serve(
  { fetch: host.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) },
  ({ port }) => console.log(`Listening on http://127.0.0.1:${port}`),
) as Server;
server.on('upgrade', (request, socket, head) =>
  gateway.handleUpgrade(request, socket, head, { basePath: '/agent' }),
);
process.once('SIGTERM', async () => {
  await gateway.close();
  server.close();
  server.closeAllConnections();
});
