// A gateway as a process of its own, whose model answers in the background: background-program.ts <place of the store> <port> <endpoint>
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { createGateway } from '../../../server/index.js';
import { TOKEN } from '../../support/gateway.js';
import { storeAt } from '../../support/store-at.js';
import '../../support/shipped-limits.js';

const [place = '', port = '', baseURL = ''] = process.argv.slice(2);
const gateway = createGateway({
  app: openaiApp({ baseURL, model: 'tiny', background: true, resumable: true }),
  ...{ port: Number(port), auth: { type: 'token', token: TOKEN }, store: storeAt(place) },
});
await gateway.start();
process.send!('started');
