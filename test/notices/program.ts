// A gateway as a process of its own: program.ts <place of the store> <port> <token> <url of the receiver>
import { createGateway } from '../../server/index.js';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { asker } from './begin.js';
import { SECRET } from './receiver.js';
import { UNSEEN_MS } from './unseen.js';
import '../support/shipped-limits.js';

const [place = '', port = '', token = '', url = ''] = process.argv.slice(2);
const leaseMs = 3000;
const store = place.startsWith('redis')
  ? redisStore({ url: place, leaseMs })
  : place.startsWith('postgres')
    ? postgresStore({ url: place, leaseMs })
    : sqliteStore({ path: place });
const gateway = createGateway({
  ...{ app: asker, store, port: Number(port), auth: { type: 'token', token } },
  logger: { warn() {}, error() {} },
  notify: {
    webhooks: { url, secrets: SECRET, timeoutMs: 1000 },
    ...{ unseenMs: UNSEEN_MS, allowPrivate: true },
  },
});
await gateway.start();
process.on('message', async ({ name, value }: { readonly name: string; readonly value: string }) => {
  const home = { scope: '[null,"token"]', app: 'default', name };
  await store.changeRecords(home, [{ kind: 'read', id: '[null,"token"]', value }]);
  process.send!({ read: name });
});
process.send!('started');
