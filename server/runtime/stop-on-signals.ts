import { onOrphaned } from './orphaned.js';

/**
 * Has SIGINT and SIGTERM end this process in good order, and so the end of its terminal, and of npm or npx where one of them started it. A
 * second SIGINT or SIGTERM does not wait for runs to finish.
 *
 * @param close What is done before the end.
 * @param failed Told why that failed; the process ends all the same, with 1.
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
  // Of the end of a terminal the system, the shell and npm all tell, each in its time: that nobody has lost patience.
  process.on('SIGHUP', stop);
  if (process.env.npm_lifecycle_event !== undefined) onOrphaned(stop);
}
