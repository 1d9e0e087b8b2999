// A gateway of tools as a process of its own: program.ts <place of the store> <port> <file that gets the id of each call that began>

import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createGateway, defineApp, type ToolContext, type ToolSet, tool } from '../../../server/index.js';
import { mcpServerPlugin } from '../../../server/plugins/mcp/index.js';
import { storeAt } from '../../support/store-at.js';
import { byName } from '../../support/users.js';
import '../../support/shipped-limits.js';

const [place = '', port = '', file = ''] = process.argv.slice(2);

async function charge({ n }: any, { callId }: ToolContext) {
  appendFileSync(file, `${n} ${callId}\n`);
  await delay(100);
  return { n };
}

const tools: ToolSet = { charge: tool({ handler: charge }), ask: tool({ handler: charge, confirm: true }) };
const gateway = createGateway({
  app: defineApp({ resumable: true, run: () => 'unused', tools }),
  ...{ store: storeAt(place), port: Number(port), auth: byName },
  logger: { warn() {}, error() {} },
  limits: { sendsPerSecond: 10_000, readsPerSecond: 10_000, invokesPerSecond: 10_000 },
});
gateway.use(mcpServerPlugin({ sessionId: 'main', tasks: { afterMs: 0, pollMs: 20 } }));
await gateway.start();
process.send!('started');
