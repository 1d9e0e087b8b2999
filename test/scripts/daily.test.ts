import { expect } from 'chai';
import { Suite, Test } from 'mocha';
// @ts-expect-error It has no types.
import { todays as todaysFiles } from '../../scripts/test/daily.mjs';

async function withDay<Result>(day: string, work: () => Result | Promise<Result>): Promise<Result> {
  const { DAY } = process.env;
  process.env.DAY = day;
  try {
    return await work();
  } finally {
    if (DAY === undefined) delete process.env.DAY;
    else process.env.DAY = DAY;
  }
}

/** What is said of the day by the environment. */
const on = (day: string): Promise<typeof import('../support/daily.js')> =>
  withDay(day, () => import(`../support/daily.js?${day}`));

describe("the day's share", () => {
  const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

  it('has each once in so many days, and is never empty', async () => {
    for (const [rows, days] of [
      [all, 3],
      [all.slice(0, 2), 3],
      [all.slice(0, 1), 5],
    ] as const) {
      const period = Math.min(days, rows.length);
      const shares: (readonly string[])[] = [];
      for (let day = 100; day < 100 + period; day++) shares.push((await on(`${day}`)).todays(rows, days));
      expect(shares.flat()).to.have.members(rows).and.have.length(rows.length);
      for (const share of shares) expect(share).to.not.be.empty;
    }
  });

  it('is all of it where all is asked for', async () => {
    expect((await on('all')).todays(all, 3)).to.deep.equal(all);
  });

  it('is the same of files as of what is within them', async () => {
    for (const rows of [all, all.slice(0, 2), all.slice(0, 1), []])
      for (const day of ['100', '101', '102', 'all'])
        expect(await withDay(day, () => todaysFiles(rows, 3)), day).to.deep.equal(
          (await on(day)).todays(rows, 3),
        );
  });

  it('leaves in a suite those tests that are in it', async () => {
    const suite = new Suite('tests much alike');
    const { inShares } = await on('100');
    inShares(3, function () {
      for (const title of all) this.addTest(new Test(title, () => {}));
    }).call(suite);
    expect(suite.tests.map(({ title }) => title)).to.deep.equal((await on('100')).todays(all, 3));
  });
});
