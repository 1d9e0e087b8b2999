import { rootContext } from './async-context.js';
import { MAX_DELAY_MS } from './deadline.js';

/** Work with a time limit. */
export interface TimedWork {
  /** Time of the limit, in milliseconds of `performance.now()`. */
  readonly dueAt: number;
  timeUp(): void;
}

/**
 * Bounds work that nearly always ends long before its time is up, with one timer for all. The timer is set for the earliest limit, and not
 * cleared when that work ends: to set and clear a timer for each short call would cost more than all its checks.
 */
export class SharedTimer {
  readonly #open = new Set<TimedWork>();
  #timer: NodeJS.Timeout | undefined;
  #setFor = Number.POSITIVE_INFINITY;

  /** Calls `timeUp` at the time of the limit, unless the work is deleted before. */
  add(due: TimedWork): void {
    this.#open.add(due);
    if (due.dueAt < this.#setFor) this.#set(due.dueAt);
  }

  delete(due: TimedWork): void {
    this.#open.delete(due);
  }

  #set(at: number): void {
    clearTimeout(this.#timer);
    this.#setFor = at;
    const ms = Math.min(Math.max(at - performance.now(), 1), MAX_DELAY_MS);
    // The timer must not run in the context of a call, which it would keep in memory.
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
