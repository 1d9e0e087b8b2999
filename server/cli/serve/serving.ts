import { isGatewayError } from 'agent-session-gateway/client';

/** What a process that serves tells the one that started it. */
export type Report<Started> =
  /** It takes its options. What is sent before may find nobody. */
  | { readonly type: 'ready' }
  | ({ readonly type: 'started' } & Started)
  | { readonly type: 'failed'; readonly reason: string }
  /** Somebody wants this process to end as by a crash. */
  | { readonly type: 'kill' };

/** What is being served. */
export interface Serving<Started> {
  readonly started: Started;
  close(): Promise<void>;
}

/**
 * Serves for the process that started this one, which sends the options, and until that one ends it or is gone.
 *
 * @param how.endsBySignal Whether SIGTERM ends it, which may be sent to all processes of a service. @default true
 */
export function serveForParent<Options, Started>(
  serve: (options: Options) => Promise<Serving<Started>>,
  { endsBySignal = true }: { readonly endsBySignal?: boolean } = {},
): void {
  const report = (what: Report<Started>) => process.send?.(what);
  let isStopping = false;
  let close = async (): Promise<void> => {};
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  // Alone there is nobody to serve for.
  process.on('disconnect', stop).on('SIGTERM', endsBySignal ? stop : () => {});
  // Ctrl+C and the end of a terminal reach every process of it; the one that started this one decides.
  process.on('SIGINT', () => {}).on('SIGHUP', () => {});
  process.once('message', (options: Options) => {
    serve(options).then(
      (serving) => {
        close = () => serving.close();
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

/** Has the process that started this one kill it, and start it again. */
export function askToBeKilled(): void {
  process.send?.({ type: 'kill' } satisfies Report<unknown>);
}

function reasonOf(error: unknown): string {
  if (isGatewayError(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
