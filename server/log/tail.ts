import type { News } from '../stores/append.js';
import type { StoredEvent } from '../stores/stored.js';

/** Number of events kept for readers at the head. Readers behind them use the store. */
const KEPT = 512;
/** Number of early batches that are kept until their predecessors arrive. */
const AHEAD = 64;

/** The newest events of a log that another gateway writes, as received from it. */
export class Tail {
  /** Consecutive events without a gap. */
  #events: StoredEvent[] = [];
  #ahead: News[] = [];

  add(events: readonly StoredEvent[]): void {
    // Readers behind it get what the store has by then.
    if (events.some(({ type }) => type === 'message_replaced')) this.clear();
    this.#events.push(...events);
    if (this.#events.length > 2 * KEPT) this.#events = this.#events.slice(-KEPT);
  }

  /** Forgets the events, because newer ones are missing. */
  clear(): void {
    this.#events = [];
  }

  /** Keeps a batch until the events before it arrive. */
  keep(news: News): void {
    this.#ahead.push(news);
    if (this.#ahead.length > AHEAD) this.#ahead.shift();
  }

  /** Removes and returns the early batches. */
  takeAhead(): readonly News[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }

  /** A page behind a place; null if the place is further back. */
  read(after: number, limit: number, bytes: number): readonly StoredEvent[] | null {
    const [first] = this.#events;
    if (!first || after < first.seq - 1) return null;
    const from = after - first.seq + 1;
    let size = 0;
    let to = from;
    while (to < this.#events.length && to - from < limit && size < bytes)
      size += this.#events[to++]!.body.length;
    return to > from ? this.#events.slice(from, to) : null;
  }
}
