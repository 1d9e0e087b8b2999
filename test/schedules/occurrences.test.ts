import { expect } from 'chai';
import { checkTimes } from '../../server/features/schedules/check-times.js';
import {
  type Occurrences,
  occurrencesOf,
  passedBy,
  shortestGap,
} from '../../server/features/schedules/occurrences.js';
import { failure } from '../support/client.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const MONDAY = Date.UTC(2026, 10, 23);

/** The instants of a schedule, and how often somebody asked for one. */
function counting(inner: Occurrences): Occurrences & { asked: number } {
  const counted = {
    asked: 0,
    after(time: number) {
      counted.asked += 1;
      return inner.after(time);
    },
    upTo(time: number) {
      counted.asked += 1;
      return inner.upTo(time);
    },
  };
  return counted;
}

/** Instants that each take a while to compute. @param gapMs The time between two */
const slow = (gapMs: number): Occurrences => {
  const compute = (): void => {
    const end = performance.now() + 4;
    while (performance.now() < end);
  };
  return {
    after(time) {
      compute();
      return Math.floor(time / gapMs) * gapMs + gapMs;
    },
    upTo(time) {
      compute();
      return Math.floor(time / gapMs) * gapMs;
    },
  };
};

/** How many turns of the event loop others had during some work. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns++) await new Promise(setImmediate);
  })();
  await work;
  isOver = true;
  await others;
  return turns;
}

describe('instants of a schedule', () => {
  it('that were missed for a week are counted up to a hundred, and the last and the next one are found', async () => {
    const cron = counting(await occurrencesOf({ every: '* * * * *' }, MONDAY));
    const time = MONDAY + 7 * DAY + 1;
    const passed = await passedBy(cron, { first: MONDAY, time, kept: 25 });
    expect(passed.count).to.equal(100);
    expect(passed.nextAt).to.equal(MONDAY + 7 * DAY + MINUTE);
    expect(passed.last).to.deep.equal(
      Array.from({ length: 25 }, (_, i) => MONDAY + 7 * DAY + (i - 24) * MINUTE),
    );
    expect(cron.asked).to.be.below(130);
    const one = await passedBy(cron, { first: MONDAY, time, kept: 1 });
    expect(one.last).to.deep.equal([MONDAY + 7 * DAY]);
  });

  it('that were missed are all counted up to a hundred, none twice', async () => {
    for (const missed of [1, 24, 25, 26, 99, 100]) {
      const every = await occurrencesOf({ every: { ms: DAY } }, MONDAY);
      const time = MONDAY + (missed + 0.5) * DAY;
      const { last, count, nextAt } = await passedBy(every, { first: MONDAY + DAY, time, kept: 25 });
      expect([count, nextAt]).to.deep.equal([missed, MONDAY + (missed + 1) * DAY]);
      expect(last).to.have.length(Math.min(25, missed));
      expect(last.at(-1)).to.equal(MONDAY + missed * DAY);
    }
  });

  it('let others work while they are counted, and while an expression is checked', async () => {
    const work = { first: 0, time: 1e9, kept: 25 };
    expect(await turnsDuring(passedBy(slow(1000), work))).to.be.above(30);
    expect(await turnsDuring(shortestGap(slow(1000), 0))).to.be.above(15);
  });

  it('are not checked beyond some years, where there are few', async () => {
    const yearly = counting(await occurrencesOf({ every: '0 0 1 1 *' }, MONDAY));
    expect(await shortestGap(yearly, MONDAY)).to.equal(365 * DAY);
    expect(yearly.asked).to.be.below(10);
  });

  it('are found across centuries, and only for so many years', async () => {
    const leapMondays = await occurrencesOf({ every: '0 0 29 2 +1' }, MONDAY);
    expect(leapMondays.after(MONDAY)).to.equal(Date.UTC(2044, 1, 29));
    expect(leapMondays.after(Date.UTC(2072, 1, 29))).to.equal(Date.UTC(2112, 1, 29));
    expect(leapMondays.upTo(Date.UTC(2112, 1, 28))).to.equal(Date.UTC(2072, 1, 29));
    const limits = { scheduleMinMs: MINUTE, scheduleGraceMs: MINUTE };
    const refused = await failure(checkTimes({ every: '0 0 LW 2 +0' }, Date.UTC(2026, 0), limits));
    expect(refused).to.include({ code: 'INVALID_PARAMS' });
  });
});
