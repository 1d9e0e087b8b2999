import type { InboxPage, ReadResult } from '../../shared/inbox/contract.js';
import type { NoticeState } from '../../shared/notices/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';
import { type InboxEvent, type InboxEventsOptions, inboxEvents } from './events.js';

/** The inbox of a client's user: unread answers and open questions by session. */
export interface ClientInbox {
  /**
   * Notes that the user has read a session up to a cursor, or all of it without one. A read place never goes back, so that a later one of another
   * device stays. Safe to repeat.
   *
   * @throws GatewayError `SESSION_NOT_FOUND`; `INVALID_PARAMS` at `cursor` for a place of another conversation, or behind the end
   */
  read(
    sessionId: string,
    options?: SignalOptions & { readonly cursor?: string | undefined },
  ): Promise<ReadResult>;
  /** A page of sessions, the last used first, with sums over all of them. @default limit 50 */
  list(
    options?: SignalOptions & { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  ): Promise<InboxPage>;
  /**
   * The user's notices of a session, the newest first: those that are owed, and the outcomes of the last 20 for each target. Empty if the
   * gateway sends no notices.
   *
   * @throws GatewayError `SESSION_NOT_FOUND`
   */
  notices(sessionId: string, options?: SignalOptions): Promise<readonly NoticeState[]>;
  /**
   * The changes after a `place`, each session as a whole in its newest state. They come over a connection of their own, which is opened again if it
   * breaks. Without a place, a first page comes first. With `reset`, the rows replace all that was known.
   *
   * @throws GatewayError if the gateway refuses
   */
  events(options?: InboxEventsOptions): AsyncGenerator<InboxEvent, void, undefined>;
}

/**
 * The inbox of a client's user.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const inbox = clientInbox(client);
 * const { sessions, unread, place } = await inbox.list();
 * for await (const change of inbox.events({ from: place })) console.log(sessions, unread, change);
 * ```
 */
export function clientInbox(client: Pick<Client, 'connection'>): ClientInbox {
  const core = coreOf.get(client);
  if (!core) throw misused('clientInbox needs a client of createClient');
  return {
    read: (sessionId, options) => core.call('read', { ...options, sessionId }),
    list: (options) => core.call('inbox', options),
    notices: async (sessionId, options) => (await core.call('notices', { ...options, sessionId })).notices,
    events: (options) => inboxEvents(core, options),
  };
}
