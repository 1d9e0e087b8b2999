import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { randomOf } from '../support/random.js';
import { HistoryLife } from './history-life.js';

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? (process.env.CI ? 20 : 12));
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1e9));

describe('a conversation that is changed while its gateway is killed', function () {
  this.timeout(15 * 60_000);

  it(`is changed whole or not at all, through ${ROUNDS} kills (CRASH_SEED=${SEED})`, async () => {
    const file = await buildProgram('test/crash/history-program.ts');
    const { violations, done, undone } = await new HistoryLife(file, 'none', randomOf(SEED)).live(ROUNDS);
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
      found.push(...(await new HistoryLife(file, 'movesApart', randomOf(SEED + attempt)).live(4)).violations);
    expect(
      found.filter((text) => / in parts: /.test(text)),
      found.slice(0, 5).join('\n'),
    ).to.not.be.empty;
  });
});
