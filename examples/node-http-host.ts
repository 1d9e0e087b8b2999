// A gateway inside a plain Node server, beside its own pages, with WebSockets.
//   npx tsx examples/node-http-host.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, defineApp } from 'agent-session-gateway';

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

const mount = { basePath: '/agent' };
const server = createServer((request, response) => {
  if (gateway.tryRequest(request, response, mount)) return;
  response.end('The host’s own page');
});
server.on('upgrade', (request, socket, head) => gateway.handleUpgrade(request, socket, head, mount));
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', async () => {
  await gateway.close();
  server.close();
  server.closeAllConnections();
});
