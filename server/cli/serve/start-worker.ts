import { processLogger, withoutLife } from '../../runtime/process-logger.js';
import { makeGateway, type ServeOptions } from './make-gateway.js';
import { serveForParent } from './running-service.js';

/** The options that `start` sends to each worker. */
export interface StartWorkerOptions extends Omit<ServeOptions, 'plugins' | 'logger'> {
  readonly file: string;
  readonly logLevel?: string | undefined;
}

/** The report of a worker to `start`. */
export interface StartWorkerStarted {
  readonly url?: string;
  readonly socketPath?: string;
}

serveForParent<StartWorkerOptions, StartWorkerStarted>(async ({ file, logLevel, ...options }) => {
  const level = logLevel ?? process.env.LOG_LEVEL;
  const logger = await processLogger({ level, stream: process.stdout, near: file });
  const { gateway } = await makeGateway(file, { ...options, isWorker: true, logger: withoutLife(logger) });
  const { url, socketPath } = await gateway.start();
  return {
    started: { ...(url !== undefined && { url }), ...(socketPath !== undefined && { socketPath }) },
    close: () => gateway.close(),
  };
});
