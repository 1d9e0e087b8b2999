import type { ParamsOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** Options of `react`. */
export type ReactOptions = SignalOptions & Omit<ParamsOf<'react'>, 'sessionId' | 'messageId'>;

/** The reactions to the messages of a session. */
export interface SessionReactions {
  /**
   * Sets this user's reaction to a message, in place of an earlier one. `value: null` takes it back. Safe to repeat.
   *
   * @throws GatewayError `MESSAGE_NOT_FOUND` for a message that is not shown; `INVALID_PARAMS` naming the field; `QUOTA_EXCEEDED`
   */
  react(messageId: string, reaction: ReactOptions): Promise<void>;
}

/**
 * The reactions to the messages of a session of a client. Each message has them in `reactions`.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const { message } = await client.send('main', 'What is new?').result;
 * await sessionReactions(client, 'main').react(message.id, { value: 'down', comment: 'Out of date' });
 * ```
 */
export function sessionReactions(client: Pick<Client, 'connection'>, sessionId: string): SessionReactions {
  const call = coreOf.get(client)?.call;
  if (!call) throw misused('sessionReactions needs a client of createClient');
  return {
    async react(messageId, reaction) {
      await call('react', { ...reaction, messageId, sessionId });
    },
  };
}
