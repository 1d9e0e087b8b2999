import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { todays } from '../support/daily.js';
import { ROOT, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

const MOCHA = join(ROOT, 'node_modules/mocha/bin/mocha.js');

/** What the suite finds wrong with a store, by title; each promise is broken by one mutant. */
async function failures(mutant: string): Promise<string[]> {
  const report = join(tempDir(), 'report.json');
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${report}`];
  const program = runCommand(process.execPath, {
    args: ['--import', 'tsx', MOCHA, '--no-config', ...reporter, 'test/testing/fixtures/mutant-store.ts'],
    cwd: ROOT,
    env: { MUTANT: mutant },
  });
  await program.exited;
  const { stats, failures: found } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly stats: { readonly tests: number };
    readonly failures: readonly { readonly title: string }[];
  };
  // Where a store fails before a test, its runner leaves out what comes behind.
  expect(stats.tests).to.be.above(mutant === 'none' ? 60 : 30);
  return found.map(({ title }) => title);
}

const MUTANTS = ['dedupeOff', 'commitLate', 'recoveryOff', 'outcomesOff', 'beginningsOff'];

describe('the suite of stores', () => {
  it('finds nothing wrong with a store that keeps its promises', async () => {
    expect(await failures('none')).to.deep.equal([]);
  });

  for (const mutant of todays(MUTANTS, 3)) {
    it(`finds what is broken: ${mutant}`, async () => {
      expect(await failures(mutant)).to.not.deep.equal([]);
    });
  }
});

describe('the suite of stores, with node:test', () => {
  it('registers the same tests', async () => {
    const args = ['--import', 'tsx', '--test', 'test/testing/fixtures/node-runner.ts'];
    const program = runCommand(process.execPath, { args, cwd: ROOT });
    expect(await program.exited, program.output).to.equal(0);
    expect(Number(/^# tests (\d+)|ℹ tests (\d+)/m.exec(program.output)!.slice(1).find(Boolean))).to.be.above(
      60,
    );
  });
});
