// deploy-program <place of the store> <folder of notes> <version>: a gateway with that version of an app, which notes its effects.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGateway } from '../../server/index.js';
import { TOKEN } from '../support/gateway.js';
import { storeAt } from '../support/store-at.js';
import { deployedApp } from './deployed-app.js';
import '../support/shipped-limits.js';

const [, , place = '', folder = '', version = ''] = process.argv;
/** How long a shared store takes a gateway that says nothing for alive. */
const LEASE_MS = 5000;

const file = join(folder, 'effects');

const gateway = createGateway({
  app: deployedApp(version, {
    // Who is called again after a kill looks first, as with any service.
    did: (key) => existsSync(file) && readFileSync(file, 'utf8').includes(`${key}\n`),
    effect: (key) => appendFileSync(file, `${key}\n`),
    isReleased: () => existsSync(join(folder, 'released')),
  }),
  port: 0,
  auth: { type: 'token', token: TOKEN },
  store: storeAt(place, LEASE_MS),
  logger: { warn() {}, error() {} },
  limits: {
    ...{ sendsPerSecond: Number.POSITIVE_INFINITY, readsPerSecond: Number.POSITIVE_INFINITY },
    ...{ sessionsPerUser: Number.POSITIVE_INFINITY, parkMs: 100 },
  },
});
console.log('listening', (await gateway.start()).url);
