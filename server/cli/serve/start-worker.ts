import { processLogger, withoutLife } from '../../runtime/process-logger.js';
import { drainWords } from '../../runtime/stop-on-signals.js';
import { processTerminal } from '../terminal.js';
import { makeGateway, type ServeOptions } from './make-gateway.js';
import { reloading } from './reloading.js';
import { serveForParent } from './running-service.js';

/** The options that `start` sends to each worker. */
export interface StartWorkerOptions extends Omit<ServeOptions, 'plugins' | 'logger'> {
  readonly file: string;
  readonly logLevel?: string | undefined;
}

/** The report of a worker to `start`. */
export interface StartWorkerStarted {
  readonly monitor?: string;
  readonly url?: string;
  readonly socketPath?: string;
}

serveForParent<StartWorkerOptions, StartWorkerStarted>(async ({ file, logLevel, ...options }) => {
  const level = logLevel ?? process.env.LOG_LEVEL;
  const logger = await processLogger({ level, stream: process.stdout, near: file });
  const served = await makeGateway(file, { ...options, isWorker: true, logger: withoutLife(logger) });
  const { gateway } = served;
  const { url, socketPath, monitor } = await gateway.start();
  return {
    started: {
      ...(url !== undefined && { url }),
      ...(socketPath !== undefined && { socketPath }),
      ...(monitor !== undefined && { monitor }),
    },
    reload: reloading(served, logger),
    close: () => {
      const waiting = drainWords(gateway);
      if (waiting !== null) processTerminal.warn(waiting);
      return gateway.close();
    },
  };
});
