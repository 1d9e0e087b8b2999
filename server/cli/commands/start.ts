import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { processLogger, withoutLife } from '../../runtime/process-logger.js';
import { stopOnSignals } from '../../runtime/stop-on-signals.js';
import { isSharedPlace, shownPlace } from '../../runtime/store-at.js';
import { openOperatorSocket } from '../operator/operator-socket.js';
import { Fleet, type FleetOptions } from '../serve/fleet.js';
import { findFile } from '../serve/load-file.js';
import { makeGateway } from '../serve/make-gateway.js';
import { type FileOptions, withFile } from '../serve/serve-options.js';
import { whenFree } from '../serve/when-free.js';
import type { Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

const DATABASE = 'data/gateway.db';

interface StartOptions extends FileOptions {
  readonly standby?: boolean;
  readonly workers: number;
}

/** `start`: serves the exports of a file, for production. */
export function startCommand(terminal: Terminal): Command {
  return withFile(new Command('start'), DATABASE)
    .description('serve the gateway, apps or app of a file, for production')
    .option('--standby', 'while another process uses the database, wait for its end, and listen then')
    .addOption(
      new Option(
        '--workers <count>',
        'processes that share the port and the sessions, `auto` for one on each core; one more keeps an SQLite file for them',
      )
        .default(1)
        .env('GATEWAY_WORKERS')
        .argParser((text) => (text === 'auto' ? availableParallelism() : wholeNumber(text))),
    )
    .addHelpText(
      'after',
      '\nWhere the file has no `auth`, callers show the token that GATEWAY_TOKEN holds. Logs are lines of JSON, by pino where it is installed; on a terminal pino-pretty makes them easier to read. SIGTERM lets runs finish (limits.drainMs), and ends with 0.',
    )
    .action((file: string | undefined, options: StartOptions) => start(file, options, terminal));
}

async function start(
  given: string | undefined,
  { envFile, standby = false, logLevel, workers, ...options }: StartOptions,
  terminal: Terminal,
): Promise<void> {
  if (envFile !== undefined) process.loadEnvFile(envFile);
  const file = findFile(given);
  const token = process.env.GATEWAY_TOKEN || undefined;
  if (workers > 1) return startFleet({ ...options, file, standby, logLevel, workers, token }, terminal);
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
    token,
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
    ? whenFree(
        () => gateway.start(),
        () => log('waiting', { file, db }),
      )
    : gateway.start());
  // Commands reach a shared store directly, by its URL.
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

/** Serves by several processes. */
async function startFleet(options: FleetOptions, terminal: Terminal): Promise<void> {
  const { file, logLevel, workers } = options;
  const logger = await processLogger({
    level: logLevel ?? process.env.LOG_LEVEL,
    stream: process.stdout,
    near: file,
  });
  const fleet = new Fleet(options, {
    ended: (what, ended) => logger.warn({ ...ended }, `a ${what} has ended, and is started again`),
  });
  stopOnSignals(
    async () => {
      logger.info({ workers }, 'stopping');
      await fleet.close();
      logger.info({ workers }, 'stopped');
    },
    (error) => terminal.warn(String(error)),
  );
  const { url, socketPath } = await fleet.start();
  logger.info({ file, workers, url, socketPath, db: shownPlace(options.db) }, 'started');
}
