const DAY_MS = 24 * 3_600_000;

/** Whether somebody runs a test by its title, which is to be found on any day. */
const isNamed = process.argv.some((arg) => /^--f?grep\b|^-[fg]/.test(arg));

/** Which day's share of much the same is tried, by `DAY`; all of it with `DAY=all`, as once a week. */
const DAY = process.env.DAY ?? (isNamed ? 'all' : `${Math.floor(Date.now() / DAY_MS)}`);

/** Whether all of it is tried. */
export const isWholeDay = DAY === 'all';

/**
 * Whether the one with this number is in the day's share: each is, once in so many days. A share within a share is of another number of
 * days, which has no factor in common with the outer one: else some pairs never meet.
 */
export const isToday = (number: number, days: number): boolean =>
  isWholeDay || (Number(DAY) + number) % days === 0;

/** The day's share of what is much alike: each is in it once in so many days, and some are each day. */
export const todays = <T>(all: readonly T[], days: number): readonly T[] =>
  all.filter((_, number) => isToday(number, Math.min(days, all.length)));

/** What describes tests much alike: of those right in it the day's share is run, and never none. */
export const inShares = (days: number, tests: (this: Mocha.Suite) => void) =>
  function (this: Mocha.Suite): void {
    tests.call(this);
    this.tests = [...todays(this.tests, days)];
  };

/** Describes tests much alike, of which a share is run each day. */
export const describeDaily = (title: string, days: number, tests: (this: Mocha.Suite) => void): void =>
  void describe(title, inShares(days, tests));
