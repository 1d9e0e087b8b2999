import { pathToFileURL } from 'node:url';
import { GatewayError } from '../../shared/errors.js';
import type { Logger } from '../config/config.js';
import { LOG_LEVELS, type LogLevel, lineLogger } from '../config/logger.js';
import { resolveFrom } from './resolve-from.js';

export { LOG_LEVELS };

interface PinoPretty {
  readonly default: (options: object) => NodeJS.WritableStream;
}

/** Settings of a process's log. */
export interface ProcessLogOptions {
  /** The lowest level that is written, from `LOG_LEVEL`. Empty means unset. @default 'info' */
  readonly level?: string | undefined;
  /** @default process.stderr */
  readonly stream?: NodeJS.WriteStream & { readonly fd: number };
  /** A file whose own pino takes precedence over this package's. */
  readonly near?: string | undefined;
}

/**
 * The log of a process that a command has started. Uses pino if installed, with readable lines if the output is a terminal and pino-pretty
 * is installed too. Otherwise writes lines of JSON in the same form.
 *
 * @throws GatewayError `INVALID_REQUEST` for an unknown level
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

/** The same log without the start and end of the gateway, for commands that report these themselves. */
export function withoutLife(logger: Required<Logger>): Logger {
  return {
    debug: (details, message) => logger.debug(details, message),
    info(details, message) {
      if (details.audit === true) logger.info(details, message);
    },
    warn: (details, message) => logger.warn(details, message),
    error: (details, message) => logger.error(details, message),
    isLevelEnabled: (level) => logger.isLevelEnabled(level),
  };
}
