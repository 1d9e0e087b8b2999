import type { Store } from './store.js';

/** Clock differences up to this count as none, in milliseconds, beside the duration of the measuring call, which limits its precision. */
const SAME_MS = 50;

/**
 * The clock of a store's server, as this process knows it. Between measurements it is counted by the monotonic clock, so that nothing is
 * decided by a wall clock that somebody sets.
 */
export class StoreClock {
  /** The store's time less the monotonic time, as last measured; null before. */
  #offsetMs: number | null = null;
  #precisionMs = SAME_MS;
  #skewMs = 0;

  /**
   * Takes in the time that the store told.
   *
   * @param time Milliseconds since the epoch
   * @param asked The time of the question, by `performance.now()`
   */
  told(time: number, asked: number): void {
    const answered = performance.now();
    this.#offsetMs = time - (asked + answered) / 2;
    this.#precisionMs = SAME_MS + answered - asked;
  }

  /** The store's time now, as last measured, in milliseconds since the epoch; null before. */
  get now(): number | null {
    return this.#offsetMs === null ? null : this.#offsetMs + performance.now();
  }

  /** Whether a time that the store has just told is ahead by more than this: somebody has set its clock. */
  isSet(time: number, byMs: number): boolean {
    return this.now !== null && time - this.now > byMs;
  }

  /** How far the store's clock is ahead of this process's wall clock at present, in milliseconds; the same as before unless it clearly differs. */
  get skewMs(): number {
    if (this.now === null) return 0;
    const skew = Math.round(this.now - Date.now());
    const isSame = (other: number): boolean => Math.abs(skew - other) <= this.#precisionMs;
    this.#skewMs = [0, this.#skewMs].find(isSame) ?? skew;
    return this.#skewMs;
  }
}

/** Converts a time to the store's clock, in milliseconds since the epoch. @param at A time by this process's wall clock, as it is set now. */
export const storeTime = ({ shared }: Pick<Store, 'shared'>, at = Date.now()): number =>
  at + (shared?.skewMs ?? 0);
