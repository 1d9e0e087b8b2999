import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { todays } from '../support/daily.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { violations } from './checker.js';
import { CrashRun } from './crash-harness.js';

const SESSIONS = 4;

describe('a gateway that is killed at any moment', function () {
  this.timeout(15 * 60_000);

  it(`keeps its promises through ${KILLS} kills under sends and readers (CRASH_SEED=${CRASH_SEED})`, async () => {
    const histories = await new CrashRun(
      await buildProgram('test/durable/gateway-program.ts'),
      'none',
      SESSIONS,
    ).run(KILLS, randomOf(CRASH_SEED), 300_000);
    expect(histories.flatMap(violations).slice(0, 20)).to.deep.equal([]);
    const ends = histories.flatMap(({ log }) => log.filter(({ event }) => event === 'message_end'));
    expect(
      ends.some(({ data }) => data.stopReason === 'lost'),
      'runs were hit',
    ).to.equal(true);
    expect(
      ends.some(({ data }) => data.stopReason === 'end'),
      'runs got through',
    ).to.equal(true);
  });

  // What the checker finds when a promise is broken on purpose: a test that nothing could fail would prove nothing. Kills hit where
  // they hit, so that a defect may take some attempts to show.
  const defects = [
    ['dedupeOff', /^key: \S+ (?:ran|was answered)/],
    ['commitLate', /^(?:reader|key): .*is not in the log|^reader \d+: gap/],
    ['recoveryOff', /^run: \S+ ended 0 times/],
  ] as const;
  for (const [mutant, expected] of todays(defects, 3)) {
    it(`is caught when it has the defect ${mutant}`, async () => {
      const file = await buildProgram('test/durable/gateway-program.ts');
      const found: string[] = [];
      for (let attempt = 0; attempt < 25 && !found.some((text) => expected.test(text)); attempt++) {
        const run = new CrashRun(file, mutant, 2);
        found.push(...(await run.run(3, randomOf(CRASH_SEED + attempt), 1500)).flatMap(violations));
      }
      expect(
        found.filter((text) => expected.test(text)),
        found.slice(0, 5).join('\n'),
      ).to.not.deep.equal([]);
    });
  }
});
