import { isatty } from 'node:tty';
import { onOrphaned } from './orphaned.js';

/**
 * Ends this process in good order on SIGINT and SIGTERM, and at the end of its terminal, or of the npm or npx that started it. A second
 * SIGINT or SIGTERM does not wait for runs to finish.
 *
 * @param close Called before the end.
 * @param failed Called if that fails. The process still ends, with code 1.
 * @param reload Called at SIGHUP instead, in a process that has no terminal, and that neither npm nor npx has started.
 */
export function stopOnSignals(
  close: () => Promise<void>,
  failed: (error: unknown) => void,
  reload?: () => void,
): void {
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
  const isByNpm = Boolean(process.env.npm_lifecycle_event);
  process.on('SIGHUP', reload && !isByNpm && !hasTerminal() ? reload : stop);
  if (isByNpm) onOrphaned(stop);
}

const hasTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

/** A gateway that is about to close, as far as its terminal tells of it. */
interface Drained {
  stats(): { readonly runs: { readonly waitedFor: number } };
}

/** The words for a person who ends a gateway that still has runs; null if it has none to wait for. */
export function drainWords(gateway: Drained): string | null {
  const { waitedFor } = gateway.stats().runs;
  if (waitedFor === 0) return null;
  return `Waiting for ${waitedFor === 1 ? '1 run' : `${waitedFor} runs`} to end. Ctrl+C again ends at once.`;
}
