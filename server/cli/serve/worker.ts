import { processLogger, withoutLife } from '../../runtime/process-logger.js';
import { drainWords } from '../../runtime/stop-on-signals.js';
import { processTerminal } from '../terminal.js';
import { makeGateway, type ServeOptions } from './make-gateway.js';
import { developmentPlugins } from './plugins.js';
import { askToBeKilled, serveForParent } from './running-service.js';

/** The options that `dev` sends to the process that serves the file. */
export interface WorkerOptions extends Omit<ServeOptions, 'plugins' | 'logger'> {
  readonly file: string;
  readonly envFile?: string | undefined;
  readonly logLevel?: string | undefined;
}

/** The report of that process to `dev`. */
export interface WorkerStarted {
  readonly url?: string;
  readonly socketPath?: string;
  readonly isEmbedded: boolean;
  readonly usesToken: boolean;
  readonly db?: string;
}

// `dev` starts another process after each change of a file.
serveForParent<WorkerOptions, WorkerStarted>(async ({ file, envFile, logLevel, ...options }) => {
  if (envFile !== undefined) process.loadEnvFile(envFile);
  const { gateway, isEmbedded, usesToken, db } = await makeGateway(file, {
    ...options,
    logger: withoutLife(await processLogger({ level: logLevel ?? process.env.LOG_LEVEL, near: file })),
    isDevelopment: true,
    plugins: developmentPlugins(file, askToBeKilled),
  });
  const { url, socketPath } = await gateway.start();
  return {
    started: {
      isEmbedded,
      usesToken,
      ...(url !== undefined && { url }),
      ...(socketPath !== undefined && { socketPath }),
      ...(db !== undefined && { db }),
    },
    close: () => {
      const waiting = drainWords(gateway);
      if (waiting !== null) processTerminal.warn(waiting);
      return gateway.close();
    },
  };
});
