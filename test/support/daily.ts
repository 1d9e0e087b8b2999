const DAY_MS = 24 * 3_600_000;

/** Which day's share of much the same is tried, by `DAY`; all of it with `DAY=all`, as once a week. */
const DAY = process.env.DAY ?? `${Math.floor(Date.now() / DAY_MS)}`;

/** Whether all of it is tried. */
export const isWholeDay = DAY === 'all';

/** Whether the one with this number is in the day's share: each is, once in so many days. */
export const isToday = (number: number, days: number): boolean =>
  isWholeDay || (Number(DAY) + number) % days === 0;
