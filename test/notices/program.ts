// A gateway as a process of its own: program.ts <place of the store> <port> <token> <url of the receiver>

import { READ_PLACES, wholeTo } from '../../server/features/inbox/read-place.js';
import { createGateway } from '../../server/index.js';
import { storeAt } from '../support/store-at.js';
import { asker } from './begin.js';
import { SECRET } from './receiver.js';
import { UNSEEN_MS } from './unseen.js';
import '../support/shipped-limits.js';

const [place = '', port = '', token = '', url = ''] = process.argv.slice(2);
const store = storeAt(place);
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
  const { epoch, seq, at } = JSON.parse(value);
  const read = wholeTo({ epoch, term: 1, seq }, { count: 0, last: 0, rewound: 0, changedAt: at }, at);
  await store.changeRecords(home, [READ_PLACES.put('[null,"token"]', read)]);
  process.send!({ read: name });
});
process.send!('started');
