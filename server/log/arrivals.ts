import type { GatewayEvent } from '../../shared/events.js';
import { reduce, type SessionState } from '../../shared/fold.js';
import type { Arrivals } from '../stores/about.js';

/** The arrivals of an empty log. */
export const NO_ARRIVALS: Arrivals = Object.freeze({ count: 0, last: 0, rewound: 0, changedAt: 0 });

/** Whether a message has a named sender among several people, so that everybody else counts it. */
const isOfOthers = ({ senderId }: { readonly senderId?: string }): boolean => senderId !== undefined;

/** Whether an accepted message is new. A message that is answered again is the tip already. */
export function isNewMessage(message: { readonly id: string }, tip: string | null): boolean {
  return message.id !== tip;
}

/**
 * Counts what events bring to read: answers that ended and are shown, and messages of other people. An event that takes such a message
 * away, or shows another path, sets `rewound`: earlier counts are void from there on.
 *
 * @param seq Sequence number of the first event
 */
export function arrivalsAfter(
  before: Arrivals,
  state: SessionState,
  events: readonly GatewayEvent[],
  seq: number,
): { readonly state: SessionState; readonly arrivals: Arrivals } {
  let { count, last, rewound } = before;
  let folded = state;
  let place = seq;
  for (const event of events) {
    const next = reduce(folded, event);
    switch (event.type) {
      case 'message_accepted':
        if (isOfOthers(event.message) && isNewMessage(event.message, folded.tip)) {
          count += 1;
          last = place;
        }
        break;
      case 'message_end': {
        if (next.tip !== folded.tip) {
          count += 1;
          last = place;
        }
        const withdrawn = folded.queue.find(({ runId }) => runId === event.runId);
        if (withdrawn && isOfOthers(withdrawn.message)) rewound = place;
        break;
      }
      case 'history_moved':
        if (!event.added) rewound = place;
        else if (event.messages!.some(isOfOthers)) {
          count += event.messages!.filter(isOfOthers).length;
          last = place;
        }
    }
    folded = next;
    place += 1;
  }
  return { state: folded, arrivals: { ...before, count, last, rewound } };
}
