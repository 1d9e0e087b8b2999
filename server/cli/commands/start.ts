import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { processLogger, withoutLife } from '../../runtime/process-logger.js';
import { readSecretFiles } from '../../runtime/secret-files.js';
import { drainWords, stopOnSignals } from '../../runtime/stop-on-signals.js';
import { isSharedPlace, shownPlace } from '../../runtime/store-at.js';
import { openOperatorSocket } from '../operator/operator-socket.js';
import { portOf } from '../port-of.js';
import { Fleet, type FleetOptions } from '../serve/fleet.js';
import { findFile } from '../serve/load-file.js';
import { makeGateway, type ServeOptions } from '../serve/make-gateway.js';
import { reloading } from '../serve/reloading.js';
import { type FileOptions, withFile } from '../serve/serve-options.js';
import { whenFree } from '../serve/when-free.js';
import type { Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

const DATABASE = 'data/gateway.db';

interface StartOptions extends FileOptions {
  readonly standby?: boolean;
  readonly check?: boolean;
  readonly workers: number;
  readonly monitorPort?: number | 'off';
  readonly monitorHost?: string;
}

/** `start`: serves the exports of a file, for production. */
export function startCommand(terminal: Terminal): Command {
  return withFile(new Command('start'), DATABASE)
    .description('serve the gateway, apps or app of a file, for production')
    .option('--standby', 'while another process uses the database, wait for its end, and listen then')
    .option(
      '--check',
      'check the file, its configuration and the secrets, start nothing, and end with 0 or 2',
    )
    .addOption(
      new Option(
        '--workers <count>',
        'processes that share the port and the sessions of a Redis or PostgreSQL, `auto` for one on each core',
      )
        .default(1)
        .env('GATEWAY_WORKERS')
        .argParser((text) => (text === 'auto' ? availableParallelism() : wholeNumber(text))),
    )
    .addOption(
      new Option(
        '--monitor-port <port>',
        'the port for health, metrics and the desk, if the file has no `monitor`; `off` for none (default: the port plus 10000); each worker has the next one',
      )
        .env('GATEWAY_MONITOR_PORT')
        .argParser((text) => (text === 'off' ? 'off' : portOf(text))),
    )
    .addOption(
      new Option(
        '--monitor-host <host>',
        'its address; others than loopback need a token in GATEWAY_MONITOR_TOKEN',
      ).env('GATEWAY_MONITOR_HOST'),
    )
    .addHelpText(
      'after',
      '\nWhere the file has no `auth`, callers show the token that GATEWAY_TOKEN holds. Logs are lines of JSON, by pino where it is installed; on a terminal pino-pretty makes them easier to read. SIGHUP has it take changed keys, origins and limits in. SIGTERM lets runs finish (limits.drainMs), and ends with 0.',
    )
    .action((file: string | undefined, options: StartOptions) => start(file, options, terminal));
}

async function start(
  given: string | undefined,
  {
    envFile,
    standby = false,
    check = false,
    logLevel,
    workers,
    monitorPort,
    monitorHost,
    ...options
  }: StartOptions,
  terminal: Terminal,
): Promise<void> {
  if (envFile !== undefined) process.loadEnvFile(envFile);
  readSecretFiles(process.env);
  const file = findFile(given);
  const token = process.env.GATEWAY_TOKEN || undefined;
  const monitorToken = process.env.GATEWAY_MONITOR_TOKEN || undefined;
  const monitor =
    monitorPort === 'off'
      ? undefined
      : {
          ...(monitorPort !== undefined && { port: monitorPort }),
          ...(monitorHost !== undefined && { host: monitorHost }),
          ...(monitorToken !== undefined && { token: monitorToken }),
        };
  if (check) return checkFile(file, { ...options, monitor, token, isWorker: workers > 1 }, terminal);
  if (workers > 1) return startFleet({ ...options, monitor, file, logLevel, workers, token }, terminal);
  const logger = await processLogger({
    level: logLevel ?? process.env.LOG_LEVEL,
    stream: process.stdout,
    near: file,
  });
  const served = await makeGateway(file, {
    ...{ ...options, monitor, token },
    logger: withoutLife(logger),
  });
  const { gateway, isEmbedded, db: place } = served;
  const log = (message: string, details: object = {}) =>
    logger.info({ gateway: gateway.id, ...details }, message);
  const db = place === undefined ? undefined : shownPlace(place);
  let endOperator = (): void => {};
  stopOnSignals(
    async () => {
      const waiting = drainWords(gateway);
      log('stopping', waiting === null ? {} : { waiting });
      endOperator();
      await gateway.close();
      log('stopped');
    },
    (error) => terminal.warn(String(error)),
    reloading(served, logger),
  );
  const {
    url,
    socketPath,
    monitor: monitorUrl,
  } = await (standby
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
  log('started', {
    file,
    ...(isEmbedded ? { embedded: true } : { url }),
    socketPath,
    db,
    monitor: monitorUrl,
  });
}

/** Says whether a gateway could be made of the file. */
async function checkFile(
  file: string,
  options: Omit<ServeOptions, 'logger'>,
  terminal: Terminal,
): Promise<void> {
  const say = (details: Readonly<Record<string, unknown>>, message: string): void =>
    terminal.warn(`${message}${details.err === undefined ? '' : `: ${details.err}`}`);
  const { gateway, db } = await makeGateway(file, { ...options, logger: { warn: say, error: say } });
  const where = db === undefined ? 'its own store' : shownPlace(db);
  terminal.say(`${file} is well: ${gateway.appNames.join(', ')}, sessions in ${where}. Nothing was started.`);
  // The file may have timers and connections of its own.
  terminal.exit(0);
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
    ended: (worker) => logger.warn({ ...worker }, 'a worker has ended, and is started again'),
  });
  stopOnSignals(
    async () => {
      logger.info({ workers }, 'stopping');
      await fleet.close();
      logger.info({ workers }, 'stopped');
    },
    (error) => terminal.warn(String(error)),
    () => fleet.reload(),
  );
  const { url, socketPath, monitor } = await fleet.start();
  logger.info({ file, workers, url, socketPath, db: shownPlace(options.db), monitor }, 'started');
}
