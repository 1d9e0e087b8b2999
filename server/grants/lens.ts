import type { LoggedEventType } from '../../shared/events.js';
import type { StoredEvent } from '../stores/store.js';
import type { View } from './view.js';

/** What a reader is given of stored events through a view: what is hidden leaves its place, once between two others. */
export class Lens {
  readonly view: View;
  readonly #places: boolean;
  /** Events that are hidden and whose place was not told yet. */
  #hidden = 0;
  #last: StoredEvent | null = null;
  /** The block of reasoning whose place was told. */
  #block = '';

  /** @param places Whether places are told: of a reader who has all events in turn. */
  constructor(view: View, places: boolean) {
    this.view = view;
    this.#places = places;
  }

  /** Events at the end of what was read whose place was not told. */
  get pending(): number {
    return this.#hidden;
  }

  /** What comes next is read from another place. */
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

/** So many events up to this one are hidden. */
function placeOf({ seq, term, ts }: StoredEvent, count: number): StoredEvent {
  // No log has such an event: it is made for its reader.
  const type = 'hidden' as string as LoggedEventType;
  return { seq, term, ts, type, runId: undefined, body: JSON.stringify({ ts, count }) };
}
