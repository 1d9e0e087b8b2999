import type { SendInput } from '../../shared/messages.js';
import type { ResultOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { identified } from '../outbox.js';
import { randomId } from '../random.js';
import { misused } from '../transport/failure.js';

export type { LaneRun } from '../../shared/fold.js';
export type { ChildAnswer, SteeringMessage } from '../../shared/messages.js';
export { childrenOf, type RunNode, type RunningState, runTree } from './tree.js';

/** The operations on the runs of a session, child runs among them. */
export interface SessionRuns {
  /**
   * Sends a message to a child run, or to another run beside the conversation. Its app takes it when it asks for it. Safe to repeat.
   *
   * @throws GatewayError `RUN_NOT_FOUND` if it is over, or is the run of the conversation: send with `onBusy: 'steer'`
   */
  steer(runId: string, message: SendInput, options?: SignalOptions): Promise<ResultOf<'steer'>>;
  /** Ends a run, and its children that are not detached. */
  abort(runId: string, reason?: string, options?: SignalOptions): Promise<ResultOf<'abort'>>;
}

/**
 * The runs of a session of a client.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const runs = sessionRuns(client, 'main');
 * const [active] = runTree(await client.session('main').state());
 * for (const child of active?.children ?? []) await runs.steer(child.runId, 'Only this year');
 * ```
 */
export function sessionRuns(client: Pick<Client, 'connection'>, sessionId: string): SessionRuns {
  const call = coreOf.get(client)?.call;
  if (!call) throw misused('sessionRuns needs a client of createClient');
  return {
    // A repeated attempt brings the same message.
    steer: (runId, message, options) =>
      call('steer', { ...options, sessionId, runId, message: identified(message, randomId()) }),
    abort: (runId, reason, options) => call('abort', { ...options, sessionId, runId, reason }),
  };
}
