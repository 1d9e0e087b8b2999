// lint.mjs ARGUMENT… [FILE…]: runs the linter, which is installed when it is needed first; on all files without any.
import { spawnSync } from 'node:child_process';
import { install } from './installed.mjs';

install('scripts');
const given = process.argv.slice(2);
const isNamed = given.some((argument, at) => at > 0 && !argument.startsWith('-'));
const { status } = spawnSync(
  process.execPath,
  ['scripts/node_modules/@biomejs/biome/bin/biome', ...given, ...(isNamed ? [] : ['.'])],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
