import type { Control } from '../../shared/control.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** Options of `takeOver`. */
export type TakeOverOptions = SignalOptions & Omit<ParamsOf<'take-over'>, 'sessionId'>;
/** Options of `handBack`. */
export type HandBackOptions = SignalOptions & Omit<ParamsOf<'hand-back'>, 'sessionId'>;

/** Control of a session: its app answers, or a person. */
export interface SessionControl {
  /**
   * Takes over. The active run and the queued ones end in the same step and log nothing after it. This user's later messages are answers. Safe to
   * repeat.
   *
   * @throws GatewayError `CONTROL_TAKEN` if somebody else was first (`details.by`); `INVALID_PARAMS` naming the field; `SESSION_NOT_FOUND`
   */
  takeOver(options?: TakeOverOptions): Promise<Control>;
  /**
   * Gives control back to the app. With `answer` it answers the last message, if nobody has; `runId` is the run of that answer.
   *
   * @throws GatewayError as `takeOver`
   */
  handBack(options?: HandBackOptions): Promise<ResultOf<'hand-back'>>;
}

/**
 * Control of a session of a client.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const control = sessionControl(client, 'main');
 * await control.takeOver({ reason: 'A refund' });
 * await client.send('main', 'This is Ann from support.').result;
 * await control.handBack({ note: 'The refund is agreed' });
 * ```
 */
export function sessionControl(client: Pick<Client, 'connection'>, sessionId: string): SessionControl {
  const call = coreOf.get(client)?.call;
  if (!call) throw misused('sessionControl needs a client of createClient');
  return {
    takeOver: async (options) => (await call('take-over', { ...options, sessionId })).control,
    handBack: (options) => call('hand-back', { ...options, sessionId }),
  };
}
