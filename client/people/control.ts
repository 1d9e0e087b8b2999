import type { Control } from '../../shared/control.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** How a person takes over, and until when. */
export type TakeOverOptions = SignalOptions & Omit<ParamsOf<'take-over'>, 'sessionId'>;
/** What a person leaves to the app. */
export type HandBackOptions = SignalOptions & Omit<ParamsOf<'hand-back'>, 'sessionId'>;

/** Who answers in a session: its app, or a person. */
export interface SessionControl {
  /**
   * Takes over: what runs or waits ends in the same step, and nothing of it comes behind. What this user sends from then on are answers.
   * Safe to be repeated.
   *
   * @throws GatewayError `CONTROL_TAKEN` where somebody else was first (`details.by`); `INVALID_PARAMS` naming the field; `SESSION_NOT_FOUND`
   */
  takeOver(options?: TakeOverOptions): Promise<Control>;
  /**
   * Gives control back to the app. With `answer` it answers the last message, where nobody has: `runId` is that run.
   *
   * @throws GatewayError as `takeOver`
   */
  handBack(options?: HandBackOptions): Promise<ResultOf<'hand-back'>>;
}

/**
 * Who answers in a session of a client.
 *
 * @throws GatewayError `INVALID_REQUEST` for what is no client of this package
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
