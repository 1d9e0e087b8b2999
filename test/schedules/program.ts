// A gateway as a process of its own: program.ts <place of the store> <port> <token>
import { createGateway, defineApp } from '../../server/index.js';
import { storeAt } from '../support/store-at.js';
import '../support/shipped-limits.js';

const [place = '', port = '', token = ''] = process.argv.slice(2);
const store = storeAt(place);
const app = defineApp({
  async *run(turn) {
    yield `did ${turn.text}`;
  },
});
const gateway = createGateway({
  ...{ app, store, port: Number(port), auth: { type: 'token', token }, limits: { scheduleMinMs: 1 } },
});
await gateway.start();
process.send!('started');
