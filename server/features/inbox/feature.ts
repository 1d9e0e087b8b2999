import { INBOX } from '../../../shared/inbox/contract.js';
import type { Feature } from '../../operations/feature.js';
import { InboxChanges } from './changes.js';
import { Inbox } from './inbox.js';
import { InboxStream } from './inbox-stream.js';
import { inboxOperations } from './operations.js';
import { READ_PLACES, wholeTo } from './read-place.js';

/** The sessions of a person, with all that is unread in them. */
export const inboxFeature: Feature = {
  kinds: [READ_PLACES],
  // A sender has read the conversation up to the message.
  recordsOfSender: ({ reader, arrivals, at, ...place }) => [
    READ_PLACES.put(reader, wholeTo(place, arrivals, at)),
  ],
  open({ store, apps, grants, logOf, mayReach, report }) {
    const changes = new InboxChanges(report);
    const inbox = new Inbox({
      ...{ store, apps, grants, logOf },
      mayShow: (ref, person, via) => (!via || apps.has(ref.app)) && mayReach(ref, 'inbox', person, via),
    });
    return {
      async hasRead(home, person, { place, at }) {
        const read = await inbox.places.of(home, person);
        if (!read) return false;
        return place ? read.epoch === place.epoch && read.seq >= place.seq : read.at >= at;
      },
      operations: () => inboxOperations(inbox, changes),
      committed: (committed) => changes.committed(committed),
      join: (errands) => changes.join(errands),
      follows: { [INBOX]: (connection) => new InboxStream(inbox, changes, connection) },
      after: {
        // An answer implies that the user has read the session. A read place that can't be stored now is stored with the next one.
        async 'tool-response'({ reach: { ref }, caller }) {
          await inbox.places
            .reach(ref, caller.person.key)
            .then(() => changes.changed(ref, false))
            .catch((error: unknown) => report(error, 'keeping a read place'));
        },
      },
    };
  },
};
