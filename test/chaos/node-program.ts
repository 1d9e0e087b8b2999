import { createGateway } from '../../server/index.js';
import { chaosApps } from './apps.js';
import type { NodeSpec } from './chaos-node.js';
import { openStore } from './stores/open-store.js';
import '../support/shipped-limits.js';

/** A gateway of a chaos test, as a process of its own. SIGTERM drains it. */
const spec: NodeSpec = JSON.parse(process.argv[2]!);
const gateway = createGateway({
  id: spec.name,
  port: 0,
  auth: { type: 'token', token: spec.token },
  apps: chaosApps(spec.name, spec.callsFile),
  defaultApp: 'talk',
  store: await openStore(spec.store),
  limits: {
    drainMs: 5000,
    heartbeatMs: 500,
    storeMs: 2000,
    shared: {
      connections: 10_000,
      sessions: 100_000,
      sendsPerSecond: 10_000,
      invokesPerSecond: 10_000,
      readsPerSecond: 10_000,
      uploadsPerSecond: 1000,
      bytes: 2 ** 36,
      fileBytes: 2 ** 36,
    },
  },
});
process.once('SIGTERM', async () => {
  await gateway.close();
  process.exit(0);
});
// A wall clock that is set.
const { now } = Date;
let jumped = 0;
process.on('SIGUSR2', () => {
  jumped = jumped === 0 ? 3_600_000 : 0;
});
Date.now = () => now() + jumped;
const { port } = await gateway.start();
console.log(`listening on ${port}.`);
