import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ROOT } from '../support/program.js';
import type { Mutant } from './mutant.js';
import { broken, MUTANTS } from './mutants.js';

/**
 * Shows that tests see what they are for: breaks one thing that the promises rest on, in a copy of the tree, and runs there the test that
 * is to see it. `npm run test:mutants -- [part of a name …]`; exits non-zero where one is not caught.
 */
const PARTS = [
  'server',
  'shared',
  'client',
  'testing',
  'test',
  'package.json',
  'tsconfig.json',
  '.mocharc.json',
];
/** A test ends by its own time-outs. A run that takes this long has shown nothing. */
const TIMEOUT_MS = 1_800_000;
const SEEDS = process.env.CHAOS_SEEDS ?? '6';

const isSource = (path: string): boolean => basename(path) !== 'node_modules';

/** What was found first, or null where nothing was. @throws where the test does not run */
function caught(mutant: Mutant): string | null {
  const { file, test, grep, faults } = mutant;
  const tree = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    for (const part of PARTS)
      cpSync(join(ROOT, part), join(tree, part), {
        recursive: true,
        verbatimSymlinks: true,
        filter: isSource,
      });
    for (const part of ['node_modules', 'test/node_modules']) symlinkSync(join(ROOT, part), join(tree, part));
    writeFileSync(join(tree, file), broken(mutant));
    const { stdout, stderr, status, signal } = spawnSync(
      process.execPath,
      [
        'node_modules/mocha/bin/mocha.js',
        ...['--bail', '--exit', '--timeout', '20000', test],
        ...(grep === undefined ? [] : ['--grep', grep]),
      ],
      {
        cwd: tree,
        encoding: 'utf8',
        timeout: TIMEOUT_MS,
        env: { ...process.env, DAY: 'all', CHAOS_STORES: 'redis', CHAOS_SEEDS: SEEDS, CHAOS_FAULTS: faults },
      },
    );
    if (signal !== null) throw new Error(`was not seen in ${TIMEOUT_MS / 60_000} minutes`);
    // Of the difference that the assertion prints: what was found, where nothing was to be. Else the title of what failed.
    const found = [...stdout.matchAll(/^ +- +"(.*)"|AssertionError: (.* request .*)$|^ {2,}1\) (.*)$/gm)]
      .map((match) => match.slice(1).find((part) => part !== undefined)!)
      .slice(0, 3);
    const isTried = /^ +[1-9]\d* (?:passing|failing)/m.test(stdout);
    if (!isTried || (found.length === 0 && status !== 0))
      throw new Error(`could not be tried:\n${stdout}${stderr}`);
    return found.length > 0 ? found.join('; ') : null;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const parts = process.argv.slice(2);
const wanted = MUTANTS.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
for (const mutant of wanted) broken(mutant);
let missed = 0;
for (const mutant of wanted) {
  let result = 'NOT CAUGHT';
  try {
    const violation = caught(mutant);
    if (violation !== null) result = `caught: ${violation}`;
  } catch (error) {
    // The others can be all the same.
    result = (error as Error).message;
  }
  if (!result.startsWith('caught')) missed += 1;
  console.log(`${mutant.name}: ${result}`);
}
console.log(`${wanted.length - missed} passed, ${missed} failed`);
process.exitCode = wanted.length > 0 && missed === 0 ? 0 : 1;
