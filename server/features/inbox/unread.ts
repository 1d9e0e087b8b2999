import type { GatewayEvent } from '../../../shared/events.js';
import type { Message } from '../../../shared/messages.js';
import { isNewMessage, NO_ARRIVALS } from '../../log/arrivals.js';
import { parseEvent } from '../../log/entry.js';
import type { LogView } from '../../log/log-view.js';
import type { SessionRecord } from '../../stores/stored.js';
import type { ReadPlace } from './read-place.js';

const PAGE = { events: 1000, bytes: 1 << 20 };

/** A read place within a conversation, or its beginning. */
export type Behind = Pick<ReadPlace, 'seq' | 'at' | 'counted' | 'from'>;

/** The read place in the conversation of a record. A place in another conversation does not count. */
export function behindOf({ epoch, createdAt }: SessionRecord, place: ReadPlace | undefined): Behind {
  return place?.epoch === epoch ? place : { seq: 0, at: createdAt, counted: 0, from: 0 };
}

/** Number of messages behind a place, by the record's counts alone; null if the log has to be read. */
export function unreadBy(
  { arrivals: { count, last, rewound } = NO_ARRIVALS }: SessionRecord,
  { seq, counted, from }: Behind,
): number | null {
  if (last <= seq) return 0;
  return rewound <= from ? count - counted : null;
}

/** Counts the shown messages that arrived behind a place, event by event. Messages whose events were cut are judged by their time. */
export async function recount(log: LogView, { seq, at }: Behind): Promise<number> {
  await log.folded();
  const arrived = new Set<string>();
  let tip: string | null = null;
  let place = Math.max(seq, log.first - 1);
  while (place < log.head) {
    const events = await log.read(place, PAGE.events, PAGE.bytes);
    if (events.length === 0) break;
    for (const stored of events) {
      const event = parseEvent(stored);
      if (event.type === 'history_moved') tip = event.tip;
      for (const id of arrivalsOf(event, tip)) arrived.add(id);
    }
    place = events.at(-1)!.seq;
  }
  const { messages, queue } = log.state;
  const isCut = seq < log.first - 1;
  const isUnread = (message: Message): boolean =>
    arrived.has(message.id) || (isCut && isRead(message) && timeOf(message) > at && !arrived.has(message.id));
  return messages.filter(isUnread).length + queue.filter(({ message }) => arrived.has(message.id)).length;
}

/** Ids of the messages that an event adds for users to read. */
function arrivalsOf(event: GatewayEvent, movedTo: string | null): readonly string[] {
  if (event.type === 'message_end') return [event.message.id];
  const isNew = event.type === 'message_accepted' && isNewMessage(event.message, movedTo);
  const added =
    event.type === 'history_moved' && event.added ? event.messages! : isNew ? [event.message] : [];
  return added.filter(({ senderId }) => senderId !== undefined).map(({ id }) => id);
}

const isRead = ({ runId, senderId }: Message): boolean => runId !== undefined || senderId !== undefined;
const timeOf = ({ endedAt, createdAt }: Message): number => endedAt ?? createdAt;
