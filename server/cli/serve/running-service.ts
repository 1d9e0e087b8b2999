import { isGatewayError } from 'agent-session-gateway/client';

/** A message of a serving process to its parent. */
export type ServeReport<Started> =
  /** The process listens for its options. Messages sent earlier may be lost. */
  | { readonly type: 'ready' }
  | ({ readonly type: 'started' } & Started)
  | { readonly type: 'failed'; readonly reason: string }
  /** Asks the parent to kill this process, as a crash would. */
  | { readonly type: 'kill' };

/** The message by which a parent has a service take a changed configuration in. */
export const RELOAD = 'reload';

/** A running service, with its report. */
export interface RunningService<Started> {
  readonly started: Started;
  /** Takes a changed configuration in. */
  reload?(): void;
  close(): Promise<void>;
}

/**
 * Serves for the parent process, which sends the options, until the parent ends this process or is gone.
 */
export function serveForParent<Options, Started>(
  serve: (options: Options) => Promise<RunningService<Started>>,
): void {
  const report = (what: ServeReport<Started>) => process.send?.(what);
  let isStopping = false;
  let close = async (): Promise<void> => {};
  let reload: (() => void) | undefined;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  // Without the parent there is nobody to serve for; and one that is impatient does not wait.
  process.on('disconnect', () => (isStopping ? process.exit(1) : stop())).on('SIGTERM', stop);
  // Ctrl+C and the end of a terminal reach all its processes, and the parent decides.
  process.on('SIGINT', () => {}).on('SIGHUP', () => {});
  process.on('message', (message: unknown) => {
    if (message === RELOAD) reload?.();
  });
  process.once('message', (options: Options) => {
    serve(options).then(
      (serving) => {
        close = () => serving.close();
        reload = () => serving.reload?.();
        report({ type: 'started', ...serving.started });
      },
      (error: unknown) => {
        report({ type: 'failed', reason: reasonOf(error) });
        process.exitCode = 1;
        process.disconnect?.();
      },
    );
  });
  report({ type: 'ready' });
}

/** Asks the parent to kill and restart this process. */
export function askToBeKilled(): void {
  process.send?.({ type: 'kill' } satisfies ServeReport<unknown>);
}

function reasonOf(error: unknown): string {
  if (isGatewayError(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
