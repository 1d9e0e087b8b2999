// The share of a day, as test/support/daily.ts has it for what is within a file.

/** Whose share is tried: the number of a day, or `all`. All that is run in one go has to be told the same. */
export const today = () => process.env.DAY ?? `${Math.floor(Date.now() / (24 * 3_600_000))}`;

/** The day's share of what is much alike: each is in it once in so many days, and some are each day. */
export function todays(all, days) {
  const day = today();
  if (day === 'all') return all;
  const period = Math.min(days, all.length);
  return all.filter((_, number) => (Number(day) + number) % period === 0);
}
