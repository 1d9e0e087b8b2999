import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/program.js';

/** What a script said at its end, with whether that is good. */
interface Called {
  readonly isGood: boolean;
  readonly end: readonly string[];
}

/** Runs a tier of a tree that has these tests; what is said at the end, with whether that is good. */
function run(files: Readonly<Record<string, string>>, ...args: string[]) {
  return inTree(files, (call) => call('run.mjs', ...args));
}

/** Calls scripts in a tree that has these tests. */
function inTree<Outcome>(
  files: Readonly<Record<string, string>>,
  work: (call: (script: string, ...args: string[]) => Called) => Outcome,
): Outcome {
  const tree = mkdtempSync(join(tmpdir(), 'tiers-'));
  try {
    mkdirSync(join(tree, 'test'));
    mkdirSync(join(tree, 'scripts'));
    for (const name of ['test', 'installed.mjs', 'alone.mjs'])
      cpSync(join(ROOT, 'scripts', name), join(tree, 'scripts', name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    writeFileSync(join(tree, 'package.json'), '{"type":"module"}');
    for (const [name, body] of Object.entries(files)) writeFileSync(join(tree, 'test', name), body);
    return work((script, ...args) => {
      const { status, stdout } = spawnSync(process.execPath, [`scripts/test/${script}`, ...args], {
        cwd: tree,
        encoding: 'utf8',
      });
      return { isGood: status === 0, end: stdout.trimEnd().split('\n').slice(-3) };
    });
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const PASSES = `it('passes', () => {});`;
const FAILS = `describe('it (all)', () => { it('fails?', () => { throw new Error('no'); }); it('is not run again', () => {}); });`;
/** Fails where it is not alone. */
const UNSTEADY = `it('minds others', () => { if (!process.argv.join().includes('--grep')) throw new Error('no'); });`;
/** Has in its title what it begins with by chance. */
const SEEDED = UNSTEADY.replace(
  "'minds others'",
  "'minds others, ' + (process.env.CRASH_SEED ?? Math.random())",
);
const SLOW = `it('takes its time', (done) => { setTimeout(done, 2100); }).timeout(9000);`;

describe('the tiers of tests', () => {
  it('are told by the names of files, and by parts of their paths', () => {
    const files = {
      'a.test.ts': PASSES,
      'b.test.ts': PASSES,
      'a.slow.test.ts': FAILS,
      'a.long.test.ts': FAILS,
    };
    expect(run(files, 'quick')).to.deep.include({ isGood: true });
    expect(run(files, 'quick').end.at(-1)).to.equal('quick: 2 passed, 0 failed, 0 unsteady');
    expect(run(files, 'quick', 'test/b').end.at(-1)).to.equal('quick: 1 passed, 0 failed, 0 unsteady');
    const both = run(files, 'quick,slow', 'test/a');
    expect(both.isGood).to.equal(false);
    expect(both.end.slice(-2)).to.deep.equal([
      'failed: it (all) fails? (test/a.slow.test.ts)',
      'quick,slow: 2 passed, 1 failed, 0 unsteady',
    ]);
  });

  it('are run in shares of days, the slow ones, where that is asked for', () => {
    const files = { 'a.test.ts': PASSES, 'a.slow.test.ts': PASSES, 'b.slow.test.ts': PASSES };
    const count = process.env.DAY === 'all' ? 3 : 2;
    expect(run(files, 'quick,slow', '--days', '2').end.at(-1)).to.equal(
      `quick,slow: ${count} passed, 0 failed, 0 unsteady`,
    );
  });

  it('have what fails run again, alone: what passes then is said, and is good where nobody minds', () => {
    const files = { 'a.test.ts': PASSES, 'b.test.ts': UNSTEADY };
    const kind = run(files, 'quick', '--jobs', '1');
    expect(kind.end.slice(-2)).to.deep.equal([
      'unsteady: minds others (test/b.test.ts)',
      'quick: 2 passed, 0 failed, 1 unsteady',
    ]);
    expect(kind.isGood).to.equal(true);
    expect(run(files, 'quick', '--jobs', '1', '--steady').isGood).to.equal(false);
    expect(run({ 'a.test.ts': SEEDED }, 'quick', '--jobs', '1').end.at(-1)).to.equal(
      'quick: 1 passed, 0 failed, 1 unsteady',
    );
  });

  it('are told which quick tests are slow, which is judged where nothing else runs', () => {
    for (const [body, starts, isQuick, end] of [
      [PASSES, '1', true, 'No quick test took long.'],
      [SLOW, '1', false, 'quick: 1 passed, 1 failed, 0 unsteady'],
      [SLOW, '1000', true, 'quick: 1 passed, 0 failed, 0 unsteady'],
    ] as const)
      inTree({ 'a.test.ts': `${body} it('is (as) quick as ever', () => {});` }, (call) => {
        expect(call('run.mjs', 'quick', '--suspects', '.cache/s.json').isGood).to.equal(true);
        const judged = call('timed.mjs', '.cache/s.json', starts);
        expect([judged.isGood, judged.end.at(-1)]).to.deep.equal([isQuick, end]);
      });
  });

  it('are wrong where nothing runs, where a file is broken, and where a quick test is slow', () => {
    expect(run({}, 'quick').isGood).to.equal(false);
    expect(run({ 'a.test.ts': 'it(' }, 'quick').isGood).to.equal(false);
    const timed = run({ 'a.test.ts': SLOW }, 'quick', '--timed', '2000', '--jobs', '1');
    expect(timed.isGood).to.equal(false);
    expect(timed.end.at(-2)).to.match(
      /^failed: takes its time: takes \d+ ms of 2000, which is for \*\.slow\.test\.ts/,
    );
  });
});
