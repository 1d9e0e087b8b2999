// A gateway as a process of its own, whose app is another one: killed-gateway.ts <place of the store> <port> <address of the app>
import { remoteApp } from '../../../server/app-adapters/remote/index.js';
import { createGateway } from '../../../server/index.js';
import { TOKEN } from '../../support/gateway.js';
import { storeAt } from '../../support/store-at.js';
import { SECRET } from './killed-secret.js';
import '../../support/shipped-limits.js';

const [place = '', port = '', url = ''] = process.argv.slice(2);
const gateway = createGateway({
  // A slice of 0.1 s: runs take several.
  app: remoteApp({ url, secret: SECRET, sliceMs: 100, silenceMs: 2_000, attempts: 1000 }),
  limits: { loopDelayMs: Number.POSITIVE_INFINITY },
  ...{ port: Number(port), auth: { type: 'token', token: TOKEN }, store: storeAt(place) },
});
await gateway.start();
process.send!('started');
