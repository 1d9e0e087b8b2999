import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './program.js';
import { closeAtLast } from './resources.js';

const built = new Map<string, Promise<string>>();

/** A TypeScript program of this repository as one file, so that starting it again costs little. @param path Below the root */
export function buildProgram(path: string): Promise<string> {
  const known = built.get(path) ?? bundle(path);
  built.set(path, known);
  return known;
}

async function bundle(path: string): Promise<string> {
  const folder = join(ROOT, '.cache', `built-${process.pid}`, path);
  closeAtLast(folder, () => {
    built.delete(path);
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [join(ROOT, path)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // The package says of its files that they do nothing by themselves; those of tests do, as `shipped-limits.ts`.
    ignoreAnnotations: true,
    sourcemap: 'inline',
    logLevel: 'error',
  });
  return outfile;
}
