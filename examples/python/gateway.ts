// A gateway whose app is the Python process of agent.py.
//   APP_SECRET=… GATEWAY_TOKEN=… npx tsx examples/python/gateway.ts
import { createGateway } from 'agent-session-gateway';
import { remoteApp } from 'agent-session-gateway/apps/remote';

const {
  APP_URL = 'http://127.0.0.1:8000/',
  APP_SECRET = '',
  GATEWAY_TOKEN = '',
  PORT = '18789',
} = process.env;

export const gateway = createGateway({
  port: Number(PORT),
  auth: { type: 'token', token: GATEWAY_TOKEN },
  app: remoteApp({ url: APP_URL, secret: APP_SECRET, name: 'agent' }),
});

const { url } = await gateway.start();
console.log(`Listening on ${url}`);
