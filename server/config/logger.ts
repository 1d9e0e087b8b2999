import { Console } from 'node:console';
import { isPromise } from '../async/maybe-promise.js';
import type { Logger } from './config.js';
import { logValue, plainError } from './log-value.js';

// A separate console: if the reader of stderr is gone, the process must not end.
const stderr = new Console({ stdout: process.stderr, stderr: process.stderr, ignoreErrors: true });

/** Control characters that JSON leaves unescaped. Terminals obey some of them, and treat others as line ends. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * Writes warnings and errors to stderr as one line of JSON each, so that no value can forge a line. Takes any value: values that JSON lacks
 * are named, and long ones are cut.
 */
export const stderrLogger: GatewayLogger = {
  debug: () => {},
  info: () => {},
  debugs: false,
  warn: (details, message) => write(stderr, 'warn', details, message),
  error: (details, message) => write(stderr, 'error', details, message),
};

/** The levels of a log, the lowest first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes the lines from a level upwards, in the form of `stderrLogger`. */
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

/** A logger for use inside the gateway. */
export interface GatewayLogger extends Required<Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>> {
  /** Whether each call is logged, which has a cost. */
  readonly debugs: boolean;
}

/**
 * Wraps a host's logger so that it never throws or rejects. A line that it refuses goes to stderr, with the reason. Errors are reduced to
 * writable fields, because libraries add requests with credentials to them.
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
        // A rejection of an async logger is handled like a thrown error.
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
