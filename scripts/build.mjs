// Builds the package into dist. With --if-changed only where its sources are newer than what was built.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { alone } from './alone.mjs';
import { isNewerThan } from './newest.mjs';

/** Written when a build is whole. Not in dist, which is packed. */
const BUILT = '.cache/built';
const SOURCES = [
  ...['client', 'server', 'shared', 'testing', 'playground', 'scripts', 'templates/components'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
];

const node = (...args) => execFileSync(process.execPath, args, { stdio: 'inherit' });

const isFresh = () =>
  process.argv.includes('--if-changed') && isNewerThan(BUILT, ['dist/server/index.js', ...SOURCES]);

function build() {
  for (const path of [BUILT, '.cache/types', 'dist']) rmSync(path, { recursive: true, force: true });
  node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
  node('scripts/bundle/main.mjs');
  node('scripts/build-playground.mjs');
  mkdirSync('.cache', { recursive: true });
  writeFileSync(BUILT, '');
}

// Tests that run at once find out together that it is to be built.
alone('.cache/building', () => {
  if (!isFresh()) build();
});
