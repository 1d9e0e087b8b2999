// A gateway inside an Express application that authenticates its users itself.
//   npx tsx examples/express-host.ts
import type { AddressInfo } from 'node:net';
import { defineApp, gatewayMiddleware, getContext, method } from 'agent-session-gateway';
import express from 'express';
import { z } from 'zod';

const notes = new Map<string, string[]>();

export const gateway = gatewayMiddleware(
  {
    app: defineApp({
      async *run(turn) {
        for (const word of `Hello ${turn.user?.id}, you said: ${turn.text}`.split(' ')) yield `${word} `;
      },
    }),
    methods: {
      notes: {
        add: method({
          schema: z.object({ text: z.string().min(1) }),
          handler: async ({ text }) => {
            const { id } = getContext().user!;
            notes.set(id, [...(notes.get(id) ?? []), text]);
            return { count: notes.get(id)!.length };
          },
        }),
      },
    },
    auth: { type: 'custom', cookies: false, validate: () => ({ valid: false }) },
  },
  // Stands for the host's own login. Without a user the gateway's `auth` decides, and that refuses everybody.
  { user: (request) => (request.headers['x-user'] ? { id: String(request.headers['x-user']) } : undefined) },
);

const app = express();
app.get('/', (_request, response) => {
  response.send('The host’s own page');
});
app.use('/agent', gateway);

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', async () => {
  await gateway.gateway.close(); // first: it ends the streams that the server waits for
  server.close();
});
