import type { ParamsOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** What a person thinks of a message. */
export type ReactOptions = SignalOptions & Omit<ParamsOf<'react'>, 'sessionId' | 'messageId'>;

/** What people think of the messages of a session. */
export interface SessionReactions {
  /**
   * Says what this user thinks of a message, in the place of what they said before; `value: null` takes it back. Safe to be repeated.
   *
   * @throws GatewayError `MESSAGE_NOT_FOUND` for one that is not shown; `INVALID_PARAMS` naming the field; `QUOTA_EXCEEDED`
   */
  react(messageId: string, reaction: ReactOptions): Promise<void>;
}

/**
 * What people think of the messages of a session of a client. Each message has it in `reactions`.
 *
 * @throws GatewayError `INVALID_REQUEST` for what is no client of this package
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
