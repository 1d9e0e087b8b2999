import { rootContext } from './async-context.js';
import { MAX_DELAY_MS } from './deadline.js';

/** Something whose time is up one day. */
export interface Due {
  /** When, in milliseconds of `performance.now()`. */
  readonly dueAt: number;
  timeUp(): void;
}

/**
 * Bounds what is nearly always over long before its time is up, with one timer for all. It is set for what was due first, and not cleared
 * when that is over: to set and clear one for each would take longer than to check a short call and all else that bounds it.
 */
export class SharedTimer {
  readonly #open = new Set<Due>();
  #timer: NodeJS.Timeout | undefined;
  #setFor = Number.POSITIVE_INFINITY;

  /** Calls back at the time, unless it is taken out before. */
  add(due: Due): void {
    this.#open.add(due);
    if (due.dueAt < this.#setFor) this.#set(due.dueAt);
  }

  delete(due: Due): void {
    this.#open.delete(due);
  }

  #set(at: number): void {
    clearTimeout(this.#timer);
    this.#setFor = at;
    const ms = Math.min(Math.max(at - performance.now(), 1), MAX_DELAY_MS);
    // Not in the context of a call, which would be kept for as long as the timer.
    this.#timer = rootContext(() => setTimeout(() => this.#look(), ms).unref());
  }

  #look(): void {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    this.#setFor = next;
    for (const due of this.#open) {
      if (due.dueAt > now) next = Math.min(next, due.dueAt);
      else {
        this.#open.delete(due);
        due.timeUp();
      }
    }
    if (next < this.#setFor) this.#set(next);
  }
}
