import type { GatewayEvent } from '../../shared/events.js';
import { reduce, type SessionState } from '../../shared/fold.js';
import type { Arrivals } from '../stores/about.js';

/** What a log begins with: nothing has arrived in it. */
export const NO_ARRIVALS: Arrivals = Object.freeze({ count: 0, last: 0, rewound: 0, changedAt: 0 });

/** Whether a message is of one of several people, so that others than its sender count it. */
const isOfOthers = ({ senderId }: { readonly senderId?: string }): boolean => senderId !== undefined;

/** Whether a message that is accepted was not there before: one that is answered again is where the path was moved to. */
export function isNewMessage(message: { readonly id: string }, tip: string | null): boolean {
  return message.id !== tip;
}

/**
 * Counts what events bring: answers that have ended and are shown, and messages that others than their reader sent. What takes such a
 * message away, or shows another path, is noted instead: no count tells what is shown then of what came before.
 *
 * @param seq Of the first of the events
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
        rewound = place;
    }
    folded = next;
    place += 1;
  }
  return { state: folded, arrivals: { ...before, count, last, rewound } };
}
