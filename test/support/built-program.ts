import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
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

/** What a program of an older version is built of. */
const PARTS = ['server', 'shared', 'client', 'test', 'package.json'];

/** The same of an older version, which the history of this repository has. @param commit The version */
export function buildProgramOf(commit: string, path: string): Promise<string> {
  const name = `${commit} ${path}`;
  const known = built.get(name) ?? bundle(path, treeOf(commit));
  built.set(name, known);
  return known;
}

/** The files of a version. */
function treeOf(commit: string): string {
  const tree = join(ROOT, '.cache', `tree-${process.pid}-${commit}`);
  closeAtLast(tree, () => {
    built.clear();
    rmSync(tree, { recursive: true, force: true });
  });
  mkdirSync(tree, { recursive: true });
  const archive = execFileSync('git', ['archive', commit, ...PARTS], { cwd: ROOT, maxBuffer: 1 << 29 });
  execFileSync('tar', ['-x', '-C', tree], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  symlinkSync(join(ROOT, 'test/node_modules'), join(tree, 'test/node_modules'));
  return tree;
}

async function bundle(path: string, root = ROOT): Promise<string> {
  const folder = join(root, '.cache', `built-${process.pid}`, path);
  closeAtLast(folder, () => {
    built.delete(path);
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [join(root, path)],
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
