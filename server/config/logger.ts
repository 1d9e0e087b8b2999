import { Console } from 'node:console';
import { isPromise } from '../async/maybe-promise.js';
import type { Logger } from './config.js';
import { logValue } from './log-value.js';

// A console of our own: one whose reader has left is no reason to end the process.
const stderr = new Console({ stdout: process.stderr, stderr: process.stderr, ignoreErrors: true });

/** Control characters that JSON leaves as they are: terminals obey some, and take others for the end of a line. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * Writes warnings and errors to stderr, one line of JSON each, so that no value can forge a line. Takes any value: what JSON can't
 * say is named, what is long is cut.
 */
export const stderrLogger: Logger = {
  warn: (details, message) => write('warn', details, message),
  error: (details, message) => write('error', details, message),
};

function write(level: string, details: Readonly<Record<string, unknown>>, message: string): void {
  const shown = logValue(details);
  const line = JSON.stringify({
    time: new Date().toISOString(),
    level,
    message: logValue(message),
    ...(typeof shown === 'object' && !Array.isArray(shown) ? shown : { details: shown }),
  });
  stderr.error(line.replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

/** A logger that never throws and never rejects: what the host's own refuses goes to stderr, with the reason. */
export function safeLogger(logger: Logger): Logger {
  if (logger === stderrLogger) return logger;
  const guarded =
    (level: 'warn' | 'error'): Logger['warn'] =>
    (details, message) => {
      const failed = (problem: unknown): void =>
        stderrLogger[level]({ ...details, logger: problem }, message);
      try {
        const answer: unknown = logger[level](details, message);
        // An async one that fails is as harmless as one that throws.
        if (isPromise(answer)) answer.then(undefined, failed);
      } catch (problem) {
        failed(problem);
      }
    };
  return { warn: guarded('warn'), error: guarded('error') };
}
