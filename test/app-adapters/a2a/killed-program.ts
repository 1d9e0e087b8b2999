// A gateway as a process of its own, whose app is an agent of A2A: killed-program.ts <place of the store> <port> <url>
import { a2aApp } from '../../../server/app-adapters/a2a/index.js';
import { createGateway } from '../../../server/index.js';
import { TOKEN } from '../../support/gateway.js';
import { storeAt } from '../../support/store-at.js';
import '../../support/shipped-limits.js';

const [place = '', port = '', url = ''] = process.argv.slice(2);
const gateway = createGateway({
  app: a2aApp({ url }),
  ...{ port: Number(port), auth: { type: 'token', token: TOKEN }, store: storeAt(place) },
});
await gateway.start();
process.send!('started');
