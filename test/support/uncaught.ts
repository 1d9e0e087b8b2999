import { closeLater } from './resources.js';

/** Catches what is reported as an uncaught error until the test ends; the returned function gives what there was. */
export function uncaught(): () => Promise<unknown[]> {
  const errors: unknown[] = [];
  const global = globalThis as { reportError?: ((error: unknown) => void) | undefined };
  const { reportError } = global;
  global.reportError = (error) => errors.push(error);
  closeLater(global, () => {
    if (reportError) global.reportError = reportError;
    else delete global.reportError;
  });
  return async () => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    return errors;
  };
}
