import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isToday } from './daily.js';
import { ROOT } from './program.js';

const run = promisify(execFile);

/** The compilers that users have. */
export const COMPILERS = ['typescript', 'typescript5'] as const;

const COMPILER_AT = {
  typescript: 'node_modules/typescript/bin/tsc',
  typescript5: 'test/node_modules/typescript5/bin/tsc',
} as const;

/** How users' projects are set up. */
export const USERS_OPTIONS = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
};

/** What a compiler says of a project; nothing when all is well. */
export async function compile(compiler: (typeof COMPILERS)[number], project: string): Promise<string> {
  const tsc = join(ROOT, COMPILER_AT[compiler]);
  return run(process.execPath, [tsc, '-p', project]).then(
    ({ stdout }) => stdout,
    // One that broke off may have said nothing.
    (error: { readonly stdout?: string }) => error.stdout || String(error),
  );
}

/** The newest, and every second day the older one, which takes several times as long: by the name, so that not all have it on the same day. */
const todaysCompilers = (name: string): typeof COMPILERS | readonly ['typescript'] =>
  isToday(name.length, 2) ? COMPILERS : ['typescript'];

/** Compiles files in a project of their own below the repository and returns what the compiler says; nothing when all is well. */
export async function compileFiles(
  name: string,
  files: Readonly<Record<string, string>>,
  compilers: readonly (typeof COMPILERS)[number][] = todaysCompilers(name),
): Promise<string> {
  const folder = join(ROOT, '.cache', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: { types: ['node'] },
    include: ['.'],
    exclude: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  let output = '';
  for (const compiler of compilers) output += await compile(compiler, folder);
  return output;
}
