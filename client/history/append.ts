import type { SendInput } from '../../shared/messages.js';
import type { ResultOf } from '../../shared/operation-types.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { identified } from '../outbox.js';
import { randomId } from '../random.js';
import { misused } from '../transport/failure.js';

/**
 * Adds messages behind the last one, which begin no run: context, or what was said elsewhere. Safe to repeat.
 *
 * @throws GatewayError `SESSION_BUSY` while a run is active or waits; `MESSAGE_EXISTS` for an `id` that is taken; `INVALID_PARAMS` for a role that the
 * gateway does not allow clients (`clientMessages.roles`); `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * await appendMessages(client, 'main', [{ id: 'note-7', content: 'The parcel has left the house.' }]);
 * ```
 */
export async function appendMessages(
  client: Pick<Client, 'connection'>,
  sessionId: string,
  messages: readonly SendInput[],
  options?: SignalOptions,
): Promise<ResultOf<'append'>> {
  const call = coreOf.get(client)?.call;
  if (!call) throw misused('appendMessages needs a client of createClient');
  // A repeated attempt brings the same messages.
  const named = messages.map((message) => identified(message, randomId()));
  return call('append', { ...options, sessionId, messages: named });
}
