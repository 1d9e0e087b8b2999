import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { HistoryLife } from './history-life.js';

describe('a conversation that is changed while its gateway is killed', function () {
  this.timeout(15 * 60_000);

  it(`is changed whole or not at all, through ${KILLS} kills (CRASH_SEED=${CRASH_SEED})`, async () => {
    const file = await buildProgram('test/crash/history-program.ts');
    const { violations, done, undone } = await new HistoryLife(file, 'none', randomOf(CRASH_SEED)).live(
      KILLS,
    );
    expect(violations.slice(0, 20)).to.deep.equal([]);
    expect(done, 'some were done').to.be.greaterThan(0);
    expect(undone, 'some were not').to.be.greaterThan(0);
  });

  it('is caught when its store takes a move and what comes with it apart', async () => {
    const file = await buildProgram('test/crash/history-program.ts');
    const found: string[] = [];
    for (
      let attempt = 0;
      attempt < 25 && !found.some((text) => / in parts: | nothing else/.test(text));
      attempt++
    )
      found.push(
        ...(await new HistoryLife(file, 'movesApart', randomOf(CRASH_SEED + attempt)).live(4)).violations,
      );
    expect(
      found.filter((text) => / in parts: /.test(text)),
      found.slice(0, 5).join('\n'),
    ).to.not.be.empty;
  });
});
