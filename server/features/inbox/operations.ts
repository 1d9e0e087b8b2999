import type { Handlers } from '../../operations/call.js';
import type { InboxChanges } from './changes.js';
import type { Inbox } from './inbox.js';

/** The operations on an inbox and its read places. */
export const inboxOperations = (inbox: Inbox, changes: InboxChanges): Handlers<'inbox' | 'read'> => ({
  inbox: (params, { caller }) => inbox.page(params, caller.person),

  async read({ cursor }, { reach: { ref, sessionId }, caller }) {
    const { place, unread } = await inbox.places.reach(ref, caller.person.key, cursor);
    changes.changed(ref, false);
    return { sessionId, readTo: place.cursor, unread };
  },
});
