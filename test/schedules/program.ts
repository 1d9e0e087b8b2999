// A gateway as a process of its own: program.ts <place of the store> <port> <token>
import { createGateway, defineApp } from '../../server/index.js';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import '../support/shipped-limits.js';

const [place = '', port = '', token = ''] = process.argv.slice(2);
const leaseMs = 3000;
const store = place.startsWith('redis')
  ? redisStore({ url: place, leaseMs })
  : place.startsWith('postgres')
    ? postgresStore({ url: place, leaseMs })
    : sqliteStore({ path: place });
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
