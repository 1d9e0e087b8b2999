import { pathToFileURL } from 'node:url';
import { GatewayError } from '../../shared/errors.js';
import type { Logger } from '../config/config.js';
import { LOG_LEVELS, type LogLevel, lineLogger } from '../config/logger.js';
import { resolveFrom } from './resolve-from.js';

export { LOG_LEVELS };

interface PinoPretty {
  readonly default: (options: object) => NodeJS.WritableStream;
}

/** How a process logs. */
export interface ProcessLogOptions {
  /** The least level that is written, as `LOG_LEVEL` has it: empty is unset. @default 'info' */
  readonly level?: string | undefined;
  /** @default process.stderr */
  readonly stream?: NodeJS.WriteStream & { readonly fd: number };
  /** A file whose own pino is taken before that of this package. */
  readonly near?: string | undefined;
}

/**
 * The log of a process that a command has started: pino where it is installed, in lines that people can read where they are read on a
 * terminal and pino-pretty is installed too; else lines of JSON of the same form.
 *
 * @throws GatewayError `INVALID_REQUEST` for a level that there is not
 */
export async function processLogger({
  level: given,
  stream = process.stderr,
  near,
}: ProcessLogOptions = {}): Promise<Required<Logger>> {
  const level = given || 'info';
  if (!isLevel(level)) {
    const message = `LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`;
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message,
      details: [{ path: 'LOG_LEVEL', message }],
    });
  }
  const pino = (await loadNear<typeof import('pino')>('pino', near))?.default;
  if (!pino) return lineLogger(stream, level);
  const pretty = stream.isTTY ? await loadNear<PinoPretty>('pino-pretty', near) : null;
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pretty
      ? pretty.default({ destination: stream.fd, sync: true, messageKey: 'message' })
      : // Synchronous, so that the last lines of a process are written.
        pino.destination({ dest: stream.fd, sync: true }),
  ) as unknown as Required<Logger>;
}

const isLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text);

async function loadNear<Module>(name: string, near: string | undefined): Promise<Module | null> {
  for (const from of [near, import.meta.url]) {
    const path = from === undefined ? undefined : resolveFrom(from, name);
    if (path !== undefined) return (await import(pathToFileURL(path).href)) as Module;
  }
  return null;
}

/** The same log for a gateway whose start and end its command tells of by itself. */
export function withoutLife(logger: Required<Logger>): Logger {
  return {
    debug: (details, message) => logger.debug(details, message),
    warn: (details, message) => logger.warn(details, message),
    error: (details, message) => logger.error(details, message),
    isLevelEnabled: (level) => logger.isLevelEnabled(level),
  };
}
