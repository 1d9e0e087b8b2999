import type { LoggedEventType } from '../../shared/events.js';
import type { StoredEvent } from '../stores/stored.js';
import type { View } from './view.js';

/** Filters stored events through a view. A run of hidden events becomes one `hidden` event with its place. */
export class Lens {
  readonly view: View;
  readonly #places: boolean;
  /** Hidden events whose place was not sent yet. */
  #hidden = 0;
  #last: StoredEvent | null = null;
  /** The hidden block of reasoning whose place was sent. */
  #block = '';

  /** @param places Whether to send the places of hidden events, to a reader who gets all events in order. */
  constructor(view: View, places: boolean) {
    this.view = view;
    this.#places = places;
  }

  /** Number of hidden events at the end whose place was not sent. */
  get pending(): number {
    return this.#hidden;
  }

  /** Called when reading continues at another place. */
  reset(): void {
    this.#hidden = 0;
    this.#last = null;
    this.#block = '';
  }

  of(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const shown: StoredEvent[] = [];
    for (const event of events) {
      const seen = this.#see(event);
      if (seen === null) {
        this.#hidden += 1;
        this.#last = event;
        continue;
      }
      if (this.#hidden > 0 && this.#places) shown.push(placeOf(this.#last!, this.#hidden));
      this.#hidden = 0;
      shown.push(seen);
    }
    return shown;
  }

  #see(event: StoredEvent): StoredEvent | null {
    const { type, body } = event;
    if (this.view.hidesType(type)) return null;
    if (type === 'content_delta' || !this.view.changes) return event;
    const data = JSON.parse(body) as Readonly<Record<string, unknown>>;
    if (type === 'reasoning_delta' && this.view.hides('reasoning')) {
      const block = `${event.runId} ${data.index}`;
      if (block === this.#block) return null;
      this.#block = block;
      return { ...event, body: JSON.stringify({ ...data, delta: '' }) };
    }
    const seen = this.view.event(type, data);
    return seen === data ? event : { ...event, body: JSON.stringify(seen) };
  }
}

/** The event that stands for hidden events up to and including one. */
function placeOf({ seq, term, ts }: StoredEvent, count: number): StoredEvent {
  // No log has such an event: it exists only for its reader.
  const type = 'hidden' as string as LoggedEventType;
  return { seq, term, ts, type, runId: undefined, body: JSON.stringify({ ts, count }) };
}
