import type { InboxPage, ReadResult } from '../../shared/inbox.js';
import type { NoticeState } from '../../shared/notices.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';
import { type InboxEvent, type InboxEventsOptions, inboxEvents } from './events.js';

/** The inbox of a client's user: what waits in which session. */
export interface ClientInbox {
  /**
   * Notes that the user has read a session up to a cursor, all of it where none is given. A place never goes back: one that another
   * device has gone beyond stays. Safe to be repeated.
   *
   * @throws GatewayError `SESSION_NOT_FOUND`; `INVALID_PARAMS` at `cursor` for a place of another conversation, or behind the end
   */
  read(
    sessionId: string,
    options?: SignalOptions & { readonly cursor?: string | undefined },
  ): Promise<ReadResult>;
  /** A page of sessions, the one that was used last first, with sums over all of them. @default limit 50 */
  list(
    options?: SignalOptions & { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  ): Promise<InboxPage>;
  /**
   * What the user was told of a session while nobody looked, and where, the newest first: what is owed, and what became of the last 20
   * for each target. Empty where the gateway tells nobody.
   *
   * @throws GatewayError `SESSION_NOT_FOUND`
   */
  notices(sessionId: string, options?: SignalOptions): Promise<readonly NoticeState[]>;
  /**
   * What changes from a `place` on, over a connection of its own, which is opened again where it breaks: each session as a whole, the
   * newest state of it. Without a place it begins with a first page. With `reset` the rows take the place of all that was known.
   *
   * @throws GatewayError where the gateway refuses
   */
  events(options?: InboxEventsOptions): AsyncGenerator<InboxEvent, void, undefined>;
}

/**
 * The inbox of a client's user.
 *
 * @throws GatewayError `INVALID_REQUEST` for what is no client of this package
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
