import { openaiApp } from '../app-adapters/openai/index.js';
import { loadOpenAI } from '../app-adapters/openai/sdk.js';
import { isGatewayError, memoryStore } from '../index.js';
import { sqliteStore } from '../stores/sqlite/index.js';
import { createDemoApp } from './demo-app.js';
import { createDemoGateway } from './demo-gateway.js';
import { onOrphaned } from './orphaned.js';
import { readSettings } from './settings.js';
import { welcome } from './welcome.js';

async function main(): Promise<void> {
  const { host, port, tokens, endpoint, database, madeUp, warnings } = readSettings(process.env);
  // A missing package ends the start, not the first run.
  if (endpoint) await loadOpenAI();
  const app = endpoint ? openaiApp(endpoint) : createDemoApp();
  const store = database === undefined ? memoryStore() : sqliteStore({ path: database });
  const gateway = createDemoGateway({ app, tokens, host, port, store });
  for (const warning of warnings) console.warn(`Warning: ${warning}`);
  let stopping = false;
  const stop = (): void => {
    // A second signal does not wait for runs to finish.
    if (stopping) process.exit(1);
    stopping = true;
    gateway.close().then(() => process.exit(0), fail);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  if (process.env.npm_lifecycle_event !== undefined) onOrphaned(stop);

  const { url } = await gateway.start();
  console.log(welcome(url!, { tokens, database, madeUp }));
}

function fail(error: unknown): void {
  console.error(isGatewayError(error) ? error.message : error);
  process.exit(1);
}

main().catch(fail);
