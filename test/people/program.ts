// A gateway as a process of its own: program.ts <URL of the store> <port>
import { createGateway } from '../../server/index.js';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { byName } from '../support/users.js';
import { shareLinks, streaming } from './control-life.js';
import '../support/shipped-limits.js';

const [url = '', port = ''] = process.argv.slice(2);
const leaseMs = 1500;
const gateway = createGateway({
  app: streaming(true),
  store: url.startsWith('redis') ? redisStore({ url, leaseMs }) : postgresStore({ url, leaseMs }),
  port: Number(port),
  auth: byName,
  sessionScope: 'global',
  shareLinks,
  limits: { sendsPerSecond: 10_000, queueLength: 1000, drainMs: 200 },
});
await gateway.start();
process.on('SIGTERM', () => void gateway.close().then(() => process.exit(0)));
process.send!('started');
