// Builds the package into dist. With --if-changed only where its sources are newer than what was built.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isNewerThan } from './newest.mjs';

/** Written when a build is whole. Not in dist, which is packed. */
const BUILT = '.cache/built';
const SOURCES = [
  ...['client', 'server', 'shared', 'testing', 'playground', 'scripts', 'templates/components'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
];

const node = (...args) => execFileSync(process.execPath, args, { stdio: 'inherit' });

/** One at a time: tests that run at once find out together that it is to be built. */
const lock = '.cache/building';
mkdirSync('.cache', { recursive: true });
while (!taken()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
process.on('exit', () => rmSync(lock, { force: true }));

function taken() {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch {
    if (isLeft()) rmSync(lock, { force: true });
    return false;
  }
}

/** Whether whoever builds was killed. */
function isLeft() {
  if (!existsSync(lock)) return false;
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

if (!process.argv.includes('--if-changed') || !isNewerThan(BUILT, ['dist/server/index.js', ...SOURCES])) {
  for (const path of [BUILT, '.cache/types', 'dist']) rmSync(path, { recursive: true, force: true });
  node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
  node('scripts/bundle/main.mjs');
  node('scripts/build-playground.mjs');
  writeFileSync(BUILT, '');
}
