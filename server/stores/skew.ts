import type { Store } from './store.js';

/** Clock differences up to this count as none, in milliseconds, beside the duration of the measuring call, which limits its precision. */
const SAME_MS = 50;

/**
 * How far a store's clock is ahead of this process's, in milliseconds.
 *
 * @param time The time by the store's clock, in milliseconds since the epoch
 * @param asked The time of the question, by this process's clock
 * @param before The former difference, which stays unless a measurement clearly differs
 */
export function skewOf(time: number, asked: number, before: number): number {
  const answered = Date.now();
  const skew = Math.round(time - (asked + answered) / 2);
  const isSame = (other: number): boolean => Math.abs(skew - other) <= SAME_MS + Math.abs(answered - asked);
  return [0, before].find(isSame) ?? skew;
}

/** Converts a time to the store's clock, by the last measurement, in milliseconds since the epoch. @param at A time by this process's clock. */
export const storeTime = ({ shared }: Pick<Store, 'shared'>, at = Date.now()): number =>
  at + (shared?.skewMs ?? 0);
