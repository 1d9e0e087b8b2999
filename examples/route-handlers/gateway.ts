import { createGateway, defineApp } from 'agent-session-gateway';

// Next.js loads modules anew while it develops; the gateway and its sessions stay the same.
const kept = globalThis as { gateway?: ReturnType<typeof makeGateway> };

function makeGateway() {
  return createGateway({
    embedded: true,
    app: defineApp({
      async *run(turn) {
        for (const word of `You said: ${turn.text}`.split(' ')) yield `${word} `;
      },
    }),
    auth: { type: 'token', token: process.env.GATEWAY_TOKEN ?? 'example-token-please-change-this!' },
    methods: { ping: async () => ({ pong: true }) },
  });
}

kept.gateway ??= makeGateway();
export const gateway = kept.gateway;
