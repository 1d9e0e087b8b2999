import type { Logger } from './config.js';

/** Writes warnings and errors to stderr, one line of JSON each, so that no value can forge a line. */
export const stderrLogger: Logger = {
  warn: (details, message) => write('warn', details, message),
  error: (details, message) => write('error', details, message),
};

function write(level: string, details: Readonly<Record<string, unknown>>, message: string): void {
  process.stderr.write(
    `${JSON.stringify({ time: new Date().toISOString(), level, message, ...details }, plain)}\n`,
  );
}

/** Errors have no enumerable fields of their own. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === 'bigint' ? String(value) : value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause !== undefined && { cause }) };
}
