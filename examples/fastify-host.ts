// A gateway inside a Fastify 5 application, with WebSockets.
//   npx tsx examples/fastify-host.ts
import { createGateway, defineApp } from 'agent-session-gateway';
import Fastify from 'fastify';

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
const host = Fastify({ forceCloseConnections: true });
host.get('/', () => 'The host’s own page');
host.all('/agent/*', (request, reply) => {
  // From here on the response is the gateway's. What hooks have put into the reply's headers goes with it.
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value!);
  gateway.handleRequest(request.raw, reply.raw, { ...mount, body: request.body });
});
host.server.on('upgrade', (request, socket, head) => gateway.handleUpgrade(request, socket, head, mount));
// Streams end when the gateway drains; the server waits for them.
host.addHook('preClose', () => gateway.close());

console.log(
  `Listening on ${await host.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })}`,
);
process.once('SIGTERM', () => host.close());
