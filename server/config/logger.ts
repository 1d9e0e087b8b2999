import { Console } from 'node:console';
import { isPromise } from '../async/maybe-promise.js';
import type { Logger } from './config.js';
import { logValue, plainError } from './log-value.js';

// A console of our own: one whose reader has left is no reason to end the process.
const stderr = new Console({ stdout: process.stderr, stderr: process.stderr, ignoreErrors: true });

/** Control characters that JSON leaves as they are: terminals obey some, and take others for the end of a line. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * Writes warnings and errors to stderr, one line of JSON each, so that no value can forge a line. Takes any value: what JSON can't
 * say is named, what is long is cut.
 */
export const stderrLogger: GatewayLogger = {
  debug: () => {},
  info: () => {},
  debugs: false,
  warn: (details, message) => write(stderr, 'warn', details, message),
  error: (details, message) => write(stderr, 'error', details, message),
};

/** The levels of a log, the least of them first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes the lines of a level and above, in the form of `stderrLogger`. */
export function lineLogger(stream: NodeJS.WritableStream, level: LogLevel): Required<Logger> {
  const out = new Console({ stdout: stream, stderr: stream, ignoreErrors: true });
  const least = LOG_LEVELS.indexOf(level);
  const isLevelEnabled = (named: string): boolean => LOG_LEVELS.indexOf(named as LogLevel) >= least;
  const at =
    (named: LogLevel): Logger['warn'] =>
    (details, message) => {
      if (isLevelEnabled(named)) write(out, named, details, message);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), isLevelEnabled };
}

function write(
  out: Console,
  level: string,
  details: Readonly<Record<string, unknown>>,
  message: string,
): void {
  const shown = logValue(details);
  const line = JSON.stringify({
    time: new Date().toISOString(),
    level,
    message: logValue(message),
    ...(typeof shown === 'object' && !Array.isArray(shown) ? shown : { details: shown }),
  });
  out.error(line.replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

/** A logger as the gateway uses it. */
export interface GatewayLogger extends Required<Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>> {
  /** Whether each call is told of: that costs something. */
  readonly debugs: boolean;
}

/**
 * A logger that never throws and never rejects: what the host's own refuses goes to stderr, with the reason. Of errors it is given what
 * can be written: libraries add requests to theirs, with their credentials.
 */
export function safeLogger(logger: Logger | undefined): GatewayLogger {
  if (logger === undefined) return stderrLogger;
  const guarded =
    (level: 'debug' | 'info' | 'warn' | 'error'): Logger['warn'] =>
    (details, message) => {
      const failed = (problem: unknown): void =>
        write(stderr, level, { ...details, logger: problem }, message);
      try {
        const given = 'err' in details ? { ...details, err: plainError(details.err) } : details;
        const answer: unknown = logger[level]?.(given, message);
        // An async one that fails is as harmless as one that throws.
        if (isPromise(answer)) answer.then(undefined, failed);
      } catch (problem) {
        failed(problem);
      }
    };
  return {
    debugs: wantsDebug(logger),
    debug: guarded('debug'),
    info: guarded('info'),
    warn: guarded('warn'),
    error: guarded('error'),
  };
}

function wantsDebug(logger: Logger): boolean {
  try {
    return logger.debug !== undefined && logger.isLevelEnabled?.('debug') === true;
  } catch {
    return false;
  }
}
