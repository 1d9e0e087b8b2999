import type { LoggedEventType } from '../../shared/events.js';
import type { StoredEvent } from './stored.js';

/** Writes events as text: a line with type, term, time, length of the body and run, then the body. */
export function encodeEvents(events: readonly StoredEvent[]): string {
  let text = '';
  for (const { type, term, ts, body, runId } of events) {
    text += `${type} ${term} ${ts} ${body.length} ${runId ?? ''}\n${body}`;
  }
  return text;
}

/** @param first Place of the first event. */
export function decodeEvents(data: string, first: number): StoredEvent[] {
  const events: StoredEvent[] = [];
  for (const reader = new EventReader(data, first); !reader.done; ) events.push(reader.next());
  return events;
}

/** Reads events one by one, or skips them without making their bodies. */
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
