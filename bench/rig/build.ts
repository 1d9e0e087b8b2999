import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { BENCH, BUILT, BUILT_PACKAGE, ROOT, UNTOLD_PACKAGE } from './paths.js';

/** How a program of Node is put together, whose dependencies lie where it finds them. */
export const AS_PROGRAM = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
} as const;

/**
 * Compiles this package as it is published, and the processes of the benchmark. A loader that compiles while it runs would not do:
 * what it adds to functions, to keep their names, would be measured too.
 */
export async function buildAll(): Promise<void> {
  if (isStale()) {
    execFileSync(process.execPath, ['scripts/bundle/main.mjs', dirname(BUILT_PACKAGE)], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    buildUntold();
  }
  await build({
    entryPoints: ['peers/main.ts', 'load/main.ts'].map((path) => join(BENCH, path)),
    outdir: BUILT,
    outbase: BENCH,
    ...AS_PROGRAM,
  });
}

/** Asks at one of the places where something is told. */
const ASKS = /\bchannels\.\w+\.hasSubscribers\b|\blistening\(\)(?! =>)/g;

/** The package with each question whether anybody listens answered for good: what it would be if it told nothing. */
function buildUntold(): void {
  rmSync(UNTOLD_PACKAGE, { recursive: true, force: true });
  cpSync(BUILT_PACKAGE, UNTOLD_PACKAGE, { recursive: true });
  let asked = 0;
  for (const name of readdirSync(UNTOLD_PACKAGE, { recursive: true, encoding: 'utf8' })) {
    const path = join(UNTOLD_PACKAGE, name);
    if (!name.endsWith('.js')) continue;
    const text = readFileSync(path, 'utf8');
    const silent = text.replaceAll(ASKS, () => {
      asked += 1;
      return 'false';
    });
    if (silent !== text) writeFileSync(path, silent);
  }
  if (asked < 15) throw new Error(`Only ${asked} places tell something: they are written in another way now`);
}

/** Whether a source is younger than what was compiled last. */
function isStale(): boolean {
  const entry = join(UNTOLD_PACKAGE, 'server/index.js');
  if (!existsSync(entry)) return true;
  const { mtimeMs } = statSync(entry);
  return ['server', 'client', 'shared'].some((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).some(
      (file) => file.isFile() && statSync(join(file.parentPath, file.name)).mtimeMs > mtimeMs,
    ),
  );
}
