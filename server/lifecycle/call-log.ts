import type { Logger } from '../config/config.js';
import { channels } from '../diagnostics/channels.js';
import type { ConnectionEndMessage, OperationMessage, RunMessage } from '../diagnostics/messages.js';
import { onOver } from '../diagnostics/on-over.js';
import type { Lifecycle } from './lifecycle.js';

/** The parts of a gateway that the log of calls needs. */
export interface CallLogEnvironment {
  readonly gatewayId: string;
  readonly logger: Required<Pick<Logger, 'debug'>>;
  readonly lifecycle: Lifecycle;
  /** The app of a canonical key. */
  appOf(sessionId: string): string;
  failed(error: unknown, what: string): void;
}

const rounded = (ms: number | undefined): number | undefined => ms && Math.round(ms * 1000) / 1000;

/** Logs each call, run and connection, for people who trace them later. @returns a function that stops the log */
export function logCalls({ gatewayId, logger, lifecycle, appOf, failed }: CallLogEnvironment): () => void {
  const tell = (details: Readonly<Record<string, unknown>>, message: string): void =>
    logger.debug({ ...details, gateway: gatewayId }, message);
  const listener = <Message>(over: (message: Message, ms: number | undefined) => void) => ({
    over,
    failed: (error: unknown) => failed(error, 'telling the log of a call failed'),
  });
  const operation = (message: OperationMessage, ms: number | undefined): void => {
    const { operation: name, method, transport, user, sessionId, runId, requestId, trace, code } = message;
    const app = sessionId === undefined ? undefined : appOf(sessionId);
    const about = { user: user.id, sessionId, app, runId, operation: name, method, requestId, transport };
    const outcome = { traceId: trace?.traceId, ms: rounded(ms), code };
    tell(
      { ...about, ...outcome },
      code === undefined ? 'a call was answered' : 'a call was refused or failed',
    );
  };
  const run = (message: RunMessage, ms: number | undefined): void => {
    const { user, sessionId, app, runId, requestId, trace, queuedMs, firstDeltaMs, code, result } = message;
    const about = { user: user?.id, sessionId, app, runId, requestId, traceId: trace?.traceId };
    const times = { ms: rounded(ms), queuedMs: rounded(queuedMs), firstDeltaMs: rounded(firstDeltaMs) };
    tell({ ...about, ...times, stopReason: result?.stopReason, code }, 'a run has ended');
  };
  const connectionEnd = (message: ConnectionEndMessage): void => {
    if (message.gatewayId !== gatewayId) return;
    const { user, connectionId, transport, reason, openMs, subscriptions } = message;
    const about = { user: user.id, connectionId, transport, reason, openMs: rounded(openMs), subscriptions };
    tell(about, 'a connection has ended');
  };
  channels.connectionEnd.subscribe(connectionEnd);
  const stops = [
    onOver(channels.operation, gatewayId, listener(operation)),
    onOver(channels.run, gatewayId, listener(run)),
    () => void channels.connectionEnd.unsubscribe(connectionEnd),
    lifecycle.on('client:connected', ({ connectionId, transport, user }) =>
      tell({ user: user?.id, connectionId, transport }, 'a client has connected'),
    ),
  ];
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}
