import { onOrphaned } from './orphaned.js';

/**
 * Ends this process in good order on SIGINT and SIGTERM, and at the end of its terminal, or of the npm or npx that started it. A second
 * SIGINT or SIGTERM does not wait for runs to finish.
 *
 * @param close Called before the end.
 * @param failed Called if that fails. The process still ends, with code 1.
 */
export function stopOnSignals(close: () => Promise<void>, failed: (error: unknown) => void): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        failed(error);
        process.exit(1);
      },
    );
  };
  const stopAtOnce = (): void => {
    if (isStopping) process.exit(1);
    stop();
  };
  process.on('SIGINT', stopAtOnce).on('SIGTERM', stopAtOnce);
  // The system, the shell and npm each report the end of a terminal, at different times. Repeated SIGHUP is not impatience.
  process.on('SIGHUP', stop);
  if (process.env.npm_lifecycle_event !== undefined) onOrphaned(stop);
}
