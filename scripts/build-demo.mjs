// Builds the gateway of `npm start` into one file, where its sources have changed: from a thousand it takes four times as long to start.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { isNewerThan } from './newest.mjs';

const TARGET = '.cache/demo';
const SOURCES = ['client', 'server', 'shared', 'package-lock.json'];

if (!isNewerThan(join(TARGET, 'main.mjs'), SOURCES)) {
  // Elsewhere first: others may be starting.
  const made = `${TARGET}-${process.pid}`;
  await build({
    entryPoints: ['server/demo/main.ts'],
    outfile: join(made, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // Some files do what they are for as they are loaded, whatever package.json says.
    ignoreAnnotations: true,
    sourcemap: 'linked',
    logLevel: 'error',
  });
  rmSync(TARGET, { recursive: true, force: true });
  try {
    renameSync(made, TARGET);
  } catch {
    // Somebody else was as quick.
    rmSync(made, { recursive: true, force: true });
  }
}
