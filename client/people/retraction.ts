import type { ParamsOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** Options of `retract`. */
export type RetractMessageOptions = SignalOptions & Omit<ParamsOf<'retract'>, 'sessionId' | 'messageId'>;

/** Messages of a session that are taken back. */
export interface SessionRetraction {
  /**
   * Takes a message back, whoever wrote it: every page, the history, exports and the store have it without its content from then on, with `retracted`,
   * which names this user. Safe to repeat.
   *
   * @throws GatewayError `MESSAGE_NOT_FOUND`; `ACCESS_DENIED` for a grant below `operator`; `INVALID_PARAMS` naming the field
   */
  retract(messageId: string, options?: RetractMessageOptions): Promise<void>;
}

/**
 * Takes messages of a session of a client back.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const { message } = await client.send('main', 'How much of it?').result;
 * await sessionRetraction(client, 'main').retract(message.id, { reason: 'The wrong dose' });
 * ```
 */
export function sessionRetraction(client: Pick<Client, 'connection'>, sessionId: string): SessionRetraction {
  const call = coreOf.get(client)?.call;
  if (!call) throw misused('sessionRetraction needs a client of createClient');
  return {
    async retract(messageId, options) {
      await call('retract', { ...options, messageId, sessionId });
    },
  };
}
