// run.mjs TIER[,TIER] [--steady] [--suspects FILE] [--timed MS] [--grep TITLES] [--jobs N] [--timeout MS] [--days N] [PART ...]: runs the tests of
// tiers (files.mjs) whose paths have one of these parts; with --days the day's share of the slow files. What fails runs again, alone: what
// passes then is unsteady, which is said, and fails with --steady. The quick tests that are slow are written to --suspects; with --timed a quick
// test fails that takes longer twice, where the machine does nothing else (timed.mjs). Quick tests that need packages which the root has not are
// left out, which is said, until these are installed; in CI, and for other tiers, they are installed. The last line has the numbers.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { install, isInstalled } from '../installed.mjs';
import { today, todays } from './daily.mjs';
import { filesOf, TIERS, tierOf } from './files.mjs';
import { needsOf } from './needs.mjs';

/** Milliseconds of a quick test beyond which it is looked at again, alone. */
const QUICK_MS = 2000;
/** Files that are named with the time they took, where all are run. */
const NAMED_LONGEST = 30;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    steady: { type: 'boolean' },
    suspects: { type: 'string' },
    timed: { type: 'string' },
    grep: { type: 'string' },
    jobs: { type: 'string' },
    timeout: { type: 'string' },
    days: { type: 'string' },
  },
});
const [named, ...parts] = positionals;
const tiers = named.split(',');
for (const tier of tiers)
  if (!TIERS.includes(tier)) throw new Error(`There is no tier ${tier}: there are ${TIERS.join(', ')}`);
const jobs = Number(values.jobs ?? availableParallelism() + 1);
const folder = mkdtempSync(join(tmpdir(), 'tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// All files, and what is run again, have the same day and begin by chance with the same: titles say so, and a test is found by its title.
process.env.DAY = today();
process.env.CRASH_SEED ??= `${Math.floor(Math.random() * 1e9)}`;
if (Number(process.env.FUZZ) > 0) process.env.SEED ??= `${Date.now() % 2 ** 31}`;

/** Runs files to their end. What a run that broke off has not said is a failure of all. */
function run(files, more = []) {
  const results = join(folder, 'results.json');
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/mocha/bin/mocha.js',
      // What a test leaves open keeps nobody waiting.
      ...['--exit', '--reporter', 'scripts/test/reporter.cjs'],
      ...(values.timeout ? ['--timeout', values.timeout] : []),
      ...(values.grep && !more.includes('--grep') ? ['--grep', values.grep] : []),
      ...more,
      ...files,
    ],
    { stdio: 'inherit', env: { ...process.env, TEST_RESULTS: results } },
  );
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    return [{ state: 'failed', path: `mocha ended with ${status}`, ms: 0 }];
  } finally {
    rmSync(results, { force: true });
  }
}

const exactly = (title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const isHook = ({ title }) => /^"(before|after)/.test(title ?? '');
/** A regular expression of what was run: the test, or all of the suite that a hook is of. */
const titleOf = ({ title, path }) =>
  isHook({ title }) ? `^${exactly(path.slice(0, -title.length).trim())}` : `^${exactly(path)}$`;
const titlesOf = (results) => results.map(titleOf).join('|');
const of = (results, state) => results.filter((result) => result.state === state);

/** Runs what failed of a file again, alone. */
function again(file, failed) {
  console.log(`\n== again, alone: ${relative('.', file)}`);
  const results = run([file], ['--grep', titlesOf(failed)]);
  const isPassed = of(results, 'failed').length === 0 && of(results, 'passed').length > 0;
  return isPassed ? [] : failed;
}

function byFile(results) {
  const files = new Map();
  for (const result of results) files.set(result.file, [...(files.get(result.file) ?? []), result]);
  return files;
}

const files = tiers.flatMap((tier) => {
  const all = filesOf(tier, parts);
  return tier === 'slow' ? todays(all, Number(values.days ?? 1)) : all;
});
const isFull = Boolean(process.env.CI) || tiers.some((tier) => tier !== 'quick');
const left = new Map();
for (const file of files) {
  const missing = needsOf(file).filter((folder) => !isInstalled(folder));
  if (isFull) for (const folder of missing) install(folder);
  else if (missing.length > 0) left.set(file, missing);
}
const tried = files.filter((file) => !left.has(file));
const results = tried.length === 0 ? [] : run(tried, jobs > 1 ? ['--parallel', '--jobs', `${jobs}`] : []);
const failed = [];
const unsteady = [];
for (const [file, failures] of byFile(of(results, 'failed'))) {
  const still = file ? again(file, failures) : failures;
  failed.push(...still);
  if (still.length === 0) unsteady.push(...failures);
}
const quickMs = Number(values.timed ?? QUICK_MS);
const isLong = ({ ms, file }) => ms > quickMs && file && tierOf(file) === 'quick';
const long = byFile(results.filter(isLong));
if (values.suspects) {
  mkdirSync(dirname(values.suspects), { recursive: true });
  const files = [...long.keys()].map((file) => relative('.', file));
  writeFileSync(values.suspects, JSON.stringify({ files, titles: titlesOf([...long.values()].flat()) }));
}
if (values.timed)
  for (const [file, found] of long) {
    const paths = new Set(found.map(({ path }) => path));
    failed.push(
      ...run([file], ['--grep', titlesOf(found)])
        .filter((result) => isLong(result) && paths.has(result.path))
        .map(tooLong),
    );
  }

function tooLong(result) {
  return {
    ...result,
    path: `${result.path}: takes ${result.ms} ms of ${quickMs}, which is for *.slow.test.ts`,
  };
}

const say = (what, list) => {
  for (const { path, file } of list) console.log(`${what}: ${path} (${file ? relative('.', file) : named})`);
};
/** Says which files took longest: there a shorter run is to be found. */
function sayLongest() {
  const sum = (list) => list.reduce((all, { ms }) => all + ms, 0);
  const times = [...byFile(results)]
    .map(([file, list]) => ({ file, ms: sum(list) }))
    .sort((a, b) => b.ms - a.ms);
  console.log(`\nlongest of ${Math.round(sum(results) / 1000)} s:`);
  for (const { file, ms } of times.slice(0, NAMED_LONGEST))
    console.log(`${String(Math.round(ms / 1000)).padStart(5)} s  ${file ? relative('.', file) : named}`);
}

if (parts.length === 0) sayLongest();
console.log('');
say('unsteady', unsteady);
say('failed', failed);
if (left.size > 0) {
  const folders = [...new Set([...left.values()].flat())].join(' and ');
  const skipped = [...left.keys()].map((file) => dirname(file));
  console.log(`skipped: ${left.size} of ${files.length} files (${[...new Set(skipped)].sort().join(', ')})`);
  console.log(`They need the packages of ${folders}: npm run packages installs them`);
}
const untried = of(results, 'skipped');
if (untried.length > 0) {
  const inFiles = [...byFile(untried).keys()].map((file) => relative('.', file)).sort();
  console.log(`skipped: ${untried.length} tests of ${inFiles.join(', ')}`);
  console.log(
    'They are of another day (DAY=all), or need a program that is not there: CONTRIBUTING.md names all',
  );
}
const passed = of(results, 'passed').length + unsteady.length;
console.log(`${named}: ${passed} passed, ${failed.length} failed, ${unsteady.length} unsteady`);
const isGood = passed > 0 && failed.length === 0 && !(values.steady && unsteady.length > 0);
process.exit(isGood ? 0 : 1);
