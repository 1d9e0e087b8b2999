import { openaiApp } from '../app-adapters/openai/index.js';
import { loadOpenAI } from '../app-adapters/openai/sdk.js';
import { directoryFiles } from '../index.js';
import { processLogger, withoutLife } from '../runtime/process-logger.js';
import { drainWords, stopOnSignals } from '../runtime/stop-on-signals.js';
import { isSharedPlace, storeAt } from '../runtime/store-at.js';
import { createDemoApp } from './demo-app.js';
import { createDemoGateway } from './demo-gateway.js';
import { findDoors } from './doors.js';
import { type DemoSettings, readSettings } from './settings.js';
import { welcome } from './welcome.js';

/** The output of the demo, and the command that starts it, to be shown to people. */
export interface DemoTerminal {
  say(text: string): void;
  warn(text: string): void;
  readonly command: string;
}

/** The running demo. */
export interface RunningDemo {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Runs the demo until a signal ends the process.
 *
 * @param env The settings for `readSettings`.
 * @throws GatewayError for wrong settings; `ADDRESS_IN_USE`, `STORE_FAILED`
 */
export async function runDemo(
  env: Readonly<Record<string, string | undefined>>,
  terminal: DemoTerminal,
): Promise<void> {
  let close = async (): Promise<void> => {};
  stopOnSignals(
    () => close(),
    (error) => terminal.warn(String(error)),
  );
  ({ close } = await startDemo(readSettings(env), terminal));
}

/**
 * Starts the demo.
 *
 * @param kill Ends its process like a crash, for the button on the page.
 * @throws GatewayError for wrong settings; `ADDRESS_IN_USE`, `STORE_FAILED`
 */
export async function startDemo(
  settings: DemoSettings,
  terminal: DemoTerminal,
  kill?: () => void,
): Promise<RunningDemo> {
  const { host, port, tokens, endpoint, database, files: folder, madeUp, logLevel, warnings } = settings;
  // A missing package must end the start, not the first run.
  if (endpoint) await loadOpenAI();
  const app = endpoint
    ? openaiApp(endpoint)
    : createDemoApp(undefined, database !== undefined && isSharedPlace(database));
  const store = await storeAt(database ?? 'memory');
  const files = folder === undefined ? undefined : directoryFiles({ path: folder });
  const logger = withoutLife(await processLogger({ level: logLevel }));
  const { doors, lacks } = await findDoors();
  const gateway = createDemoGateway({ app, tokens, host, port, store, files, logger, doors, kill });
  for (const warning of warnings) terminal.warn(`Warning: ${warning}`);
  const { url } = await gateway.start();
  terminal.say(welcome(url!, { tokens, database, madeUp, doors, lacks, command: terminal.command }));
  const close = (): Promise<void> => {
    const waiting = drainWords(gateway);
    if (waiting !== null) terminal.warn(waiting);
    return gateway.close();
  };
  return { url: url!, close };
}
