// lint.mjs ARGUMENT… [FILE…]: runs the linter, which is installed when it is needed first; on all files without any.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { install } from './installed.mjs';

install('scripts');
const given = process.argv.slice(2);
const isNamed = given.some((argument, at) => at > 0 && !argument.startsWith('-'));
const linter = dirname(createRequire(import.meta.url).resolve('@biomejs/biome/package.json'));
const { status } = spawnSync(
  process.execPath,
  [join(linter, 'bin/biome'), ...given, ...(isNamed ? [] : ['.'])],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
