import { EventReader, encodeEvents } from '../event-text.js';
import type { StoredEvent } from '../stored.js';

/** Events of one log as the journal has them. */
export interface JournalGroup {
  readonly log: number;
  readonly first: number;
  readonly events: readonly StoredEvent[];
}

/** Writes a group of the journal: a line with log, first place and number of events, then the events. */
export function encodeGroup({ log, first, events }: JournalGroup): string {
  return `${log} ${first} ${events.length}\n${encodeEvents(events)}`;
}

/** Reads a row of the journal. */
export function decodeJournal(data: string): JournalGroup[] {
  const groups: JournalGroup[] = [];
  for (let at = 0; at < data.length; ) {
    const line = data.indexOf('\n', at);
    const [log = 0, first = 0, count = 0] = data.slice(at, line).split(' ').map(Number);
    const reader = new EventReader(data, first, line + 1);
    groups.push({ log, first, events: Array.from({ length: count }, () => reader.next()) });
    at = reader.at;
  }
  return groups;
}
