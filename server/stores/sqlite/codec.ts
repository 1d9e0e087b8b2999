import type { LoggedEventType } from '../../../shared/events.js';
import type { StoredEvent } from '../store.js';

/** Writes events as text: a line with type, term, time, length of the body and run, then the body. */
export function encodeEvents(events: readonly StoredEvent[]): string {
  let text = '';
  for (const { type, term, ts, body, runId } of events) {
    text += `${type} ${term} ${ts} ${body.length} ${runId ?? ''}\n${body}`;
  }
  return text;
}

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

/** Reads events one by one, or passes over them without making their bodies. */
export class EventReader {
  readonly #data: string;
  #seq: number;
  at: number;

  /** @param seq Place of the first event. */
  constructor(data: string, seq: number, at = 0) {
    this.#data = data;
    this.#seq = seq;
    this.at = at;
  }

  get done(): boolean {
    return this.at >= this.#data.length;
  }

  next(): StoredEvent {
    const { fields, body } = this.#head();
    const [type, term, ts, length] = fields;
    this.at = body + Number(length);
    return {
      seq: this.#seq++,
      term: Number(term),
      type: type as LoggedEventType,
      ts: Number(ts),
      runId: fields[4] || undefined,
      body: this.#data.slice(body, this.at),
    };
  }

  skip(): void {
    const { fields, body } = this.#head();
    this.at = body + Number(fields[3]);
    this.#seq += 1;
  }

  #head(): { fields: string[]; body: number } {
    const end = this.#data.indexOf('\n', this.at);
    return { fields: this.#data.slice(this.at, end).split(' '), body: end + 1 };
  }
}
