// Builds the page of the playground into dist/playground. With --if-changed only where its sources are newer than what was built.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { isNewerThan } from './newest.mjs';

const TARGET = 'dist/playground';
const SOURCES = ['playground', 'templates/components', 'client', 'shared', 'package-lock.json'];

const isFresh = () => isNewerThan(join(TARGET, 'index.html'), SOURCES);

const replace = (made) => {
  rmSync(TARGET, { recursive: true, force: true });
  renameSync(made, TARGET);
};

if (!process.argv.includes('--if-changed') || !isFresh()) {
  // Elsewhere first: others may be reading the page, or building it too.
  const made = `${TARGET}-${process.pid}`;
  try {
    await build({
      configFile: 'playground/vite.config.ts',
      logLevel: 'warn',
      build: { outDir: `../${made}` },
    });
    try {
      replace(made);
    } catch {
      // Somebody else was as quick.
      replace(made);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
