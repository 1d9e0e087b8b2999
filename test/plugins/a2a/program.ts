// A gateway of agents as a process of its own: program.ts <place of the store> <port>

import { createGateway } from '../../../server/index.js';
import { a2aPlugin } from '../../../server/plugins/a2a/index.js';
import { storeAt } from '../../support/store-at.js';
import { byName } from '../../support/users.js';
import { app, OPEN } from './push-fixtures.js';
import '../../support/shipped-limits.js';

const [place = '', port = ''] = process.argv.slice(2);
const gateway = createGateway({
  ...{ app, store: storeAt(place), port: Number(port), auth: byName, notify: OPEN },
  logger: { warn() {}, error() {} },
});
gateway.use(a2aPlugin());
await gateway.start();
process.send!('started');
