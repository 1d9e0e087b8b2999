import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

/** The operations on an inbox and its read places. */
export const inboxOperations = (
  { inboxChanges }: OperationEnvironment,
  { inbox }: OperationParts,
): Handlers<'inbox' | 'read'> => ({
  inbox: (params, { caller }) => inbox.page(params, caller.person),

  async read({ cursor }, { reach: { ref, sessionId }, caller }) {
    const { place, unread } = await inbox.places.reach(ref, caller.person.key, cursor);
    inboxChanges.changed(ref, false);
    return { sessionId, readTo: place.cursor, unread };
  },
});
