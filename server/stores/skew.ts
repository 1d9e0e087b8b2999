import type { Store } from './store.js';

/** Differences that are none: what is measured is no more exact than the time that an answer takes, in milliseconds besides that. */
const SAME_MS = 50;

/**
 * By how much a store's clock is ahead of this process's, in milliseconds.
 *
 * @param time What the store's clock said, in milliseconds since the epoch
 * @param asked When it was asked, by this process's
 * @param before What it was before, which stays where nothing else can be told
 */
export function skewOf(time: number, asked: number, before: number): number {
  const answered = Date.now();
  const skew = Math.round(time - (asked + answered) / 2);
  const isSame = (other: number): boolean => Math.abs(skew - other) <= SAME_MS + Math.abs(answered - asked);
  return [0, before].find(isSame) ?? skew;
}

/** The time by a store's clock, as far as it is known here, in milliseconds since the epoch. @param at By this process's. */
export const storeTime = ({ shared }: Pick<Store, 'shared'>, at = Date.now()): number =>
  at + (shared?.skewMs ?? 0);
