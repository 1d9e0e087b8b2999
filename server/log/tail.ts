import type { News, StoredEvent } from '../stores/store.js';

/** Events kept for those who follow a log; who is behind them reads the store. */
const KEPT = 512;
/** Batches kept that came before those in front of them. */
const AHEAD = 64;

/** The newest events of a log that is written elsewhere, as they were heard of. */
export class Tail {
  /** Without a hole. */
  #events: StoredEvent[] = [];
  #ahead: News[] = [];

  add(events: readonly StoredEvent[]): void {
    this.#events.push(...events);
    if (this.#events.length > 2 * KEPT) this.#events = this.#events.slice(-KEPT);
  }

  /** What it has is not all there is. */
  clear(): void {
    this.#events = [];
  }

  /** Keeps a batch until what comes before it is known. */
  keep(news: News): void {
    this.#ahead.push(news);
    if (this.#ahead.length > AHEAD) this.#ahead.shift();
  }

  /** What is kept, once. */
  takeAhead(): readonly News[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }

  /** A page behind a place; null where that is further back. */
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
