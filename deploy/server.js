// What is served until you put your own here: apps, and what a gateway behind one proxy needs. docs/deployment.md
import { defineApp } from 'agent-session-gateway';

export const config = {
  app: defineApp({
    async *run(turn) {
      yield `You said: ${turn.text}`;
    },
  }),
  trustProxy: 1,
  // The public host names, separated by commas, and the one that health checks use.
  allowedHosts: process.env.ALLOWED_HOSTS && ['127.0.0.1', ...process.env.ALLOWED_HOSTS.split(',')],
};
