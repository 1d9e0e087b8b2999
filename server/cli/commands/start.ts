import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from 'agent-session-gateway';
import { isGatewayError } from 'agent-session-gateway/client';
import { Command } from 'commander';
import { processLogger, withoutLife } from '../../runtime/process-logger.js';
import { stopOnSignals } from '../../runtime/stop-on-signals.js';
import { isSharedPlace, shownPlace } from '../../runtime/store-at.js';
import { openOperatorSocket } from '../operator/operator-socket.js';
import { findFile } from '../serve/load-file.js';
import { makeGateway } from '../serve/make-gateway.js';
import { type FileOptions, withFile } from '../serve/serve-options.js';
import type { Terminal } from '../terminal.js';

const DATABASE = 'data/gateway.db';
/** A process that waits for a database looks so often whether it is free. */
const LOOK_MS = 100;

interface StartOptions extends FileOptions {
  readonly standby?: true;
}

/** `start`: serves what a file exports, for production. */
export function startCommand(terminal: Terminal): Command {
  return withFile(new Command('start'), DATABASE)
    .description('serve the gateway, apps or app of a file, for production')
    .option('--standby', 'while another process uses the database, wait for its end, and listen then')
    .addHelpText(
      'after',
      '\nWhere the file has no `auth`, callers show the token that GATEWAY_TOKEN holds. Logs are lines of JSON, by pino where it is installed; on a terminal pino-pretty makes them easier to read. SIGTERM lets runs finish (limits.drainMs), and ends with 0.',
    )
    .action((file: string | undefined, options: StartOptions) => start(file, options, terminal));
}

async function start(
  given: string | undefined,
  { envFile, standby, logLevel, ...options }: StartOptions,
  terminal: Terminal,
): Promise<void> {
  if (envFile !== undefined) process.loadEnvFile(envFile);
  const file = findFile(given);
  const logger = await processLogger({
    level: logLevel ?? process.env.LOG_LEVEL,
    stream: process.stdout,
    near: file,
  });
  const {
    gateway,
    isEmbedded,
    db: place,
  } = await makeGateway(file, {
    ...options,
    logger: withoutLife(logger),
    token: process.env.GATEWAY_TOKEN || undefined,
  });
  const log = (message: string, details: object = {}) =>
    logger.info({ gateway: gateway.id, ...details }, message);
  const db = place === undefined ? undefined : shownPlace(place);
  let endOperator = (): void => {};
  stopOnSignals(
    async () => {
      log('stopping');
      endOperator();
      await gateway.close();
      log('stopped');
    },
    (error) => terminal.warn(String(error)),
  );
  const { url, socketPath } = await (standby
    ? startWhenFree(gateway, () => log('waiting', { file, db }))
    : gateway.start());
  // Who has the URL of a store that is shared needs nobody to pass a command on.
  if (place !== undefined && place !== 'memory' && !isSharedPlace(place)) {
    try {
      endOperator = await openOperatorSocket(gateway, place);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log('takes no commands for its data', { reason });
    }
  }
  log('started', { file, ...(isEmbedded ? { embedded: true } : { url }), socketPath, db });
}

/** Starts a gateway as soon as no other process uses its database. @param waits Called once, if one does. */
async function startWhenFree(
  gateway: Gateway<any, any, any>,
  waits: () => void,
): ReturnType<typeof gateway.start> {
  for (let looks = 0; ; looks++) {
    try {
      return await gateway.start();
    } catch (error) {
      if (!isGatewayError(error) || reasonOf(error) !== 'locked') throw error;
      if (looks === 0) waits();
      await delay(LOOK_MS);
    }
  }
}

function reasonOf({ details }: { readonly details?: unknown }): unknown {
  return (details as { readonly reason?: unknown } | undefined)?.reason;
}
