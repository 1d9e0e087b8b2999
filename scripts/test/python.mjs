// Checks the types of the Python package, runs its tests, and builds its wheel, with what Debian has. PYTHON names another Python.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
const run = (...args) => {
  const { status, stdout, stderr } = spawnSync(PYTHON, args, { cwd: 'python', env, encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  if (status !== 0) console.log(said.trimEnd());
  return { isGood: status === 0, said };
};

const built = mkdtempSync(join(tmpdir(), 'wheel-'));
const checks = {
  'its types': () => run('-m', 'mypy', '--cache-dir', join(built, 'mypy'), '.').isGood,
  'its wheel': () => {
    const { isGood } = run('-m', 'build', '--wheel', '--no-isolation', '--outdir', join(built, 'dist'), '.');
    return isGood && readdirSync(join(built, 'dist')).some((name) => name.endsWith('-py3-none-any.whl'));
  },
};
const failed = Object.keys(checks).filter((name) => !checks[name]());
for (const name of failed) console.log(`failed: ${name}`);
rmSync(built, { recursive: true, force: true });
rmSync('python/build', { recursive: true, force: true });
const { said } = run(
  '-m',
  'unittest',
  'discover',
  '--start-directory',
  'tests',
  '--top-level-directory',
  '.',
);
const number = (pattern) => Number(pattern.exec(said)?.[1] ?? 0);
const wrong = number(/failures=(\d+)/) + number(/errors=(\d+)/);
const tried = number(/^Ran (\d+) tests? in/m);
const failures = wrong + failed.length + (tried === 0 ? 1 : 0);
console.log(`python: ${Math.max(0, tried - wrong)} passed, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
