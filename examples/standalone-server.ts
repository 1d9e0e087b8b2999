// A gateway that listens by itself, with one app and one method.
//   npx tsx examples/standalone-server.ts
import { createGateway, defineApp, method, tool } from 'agent-session-gateway';
import { z } from 'zod';

const assistant = defineApp({
  description: 'Answers, and looks customers up',
  tools: {
    lookup: tool({
      description: 'Find a customer by name',
      schema: z.object({ name: z.string() }),
      handler: ({ name }) => ({ name, plan: 'pro' }),
    }),
  },
  async *run(turn) {
    yield 'One moment. ';
    const customer = await turn.callTool('lookup', { name: turn.text });
    yield `${customer.name} is on the ${customer.plan} plan.`;
  },
});

export const gateway = createGateway({
  app: assistant,
  port: Number(process.env.PORT ?? 18_789),
  auth: { type: 'token', token: process.env.GATEWAY_TOKEN ?? 'example-token-please-change-this!' },
  methods: {
    math: {
      add: method({
        schema: z.object({ a: z.number(), b: z.number() }),
        handler: async ({ a, b }) => ({ sum: a + b }),
      }),
    },
  },
});

const { url } = await gateway.start();
console.log(`Listening on ${url}`);
process.once('SIGTERM', () => gateway.close());
