// installed.mjs FOLDER…: installs the packages of folders that have a package.json and a lock of their own, where that has not been done. What
// few need is there, and not in the root's.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone } from './alone.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The folders of the project that bring packages of their own. Their files find these, and those of the root, as any file does. */
export const OWN = ['test', 'scripts', 'bench', 'docs/.vitepress'];

const at = (folder) => join(ROOT, folder);
const markOf = (folder) => join(at(folder), 'node_modules/installed');
/** What an installation was made of: the lock, and what the root had then. */
function stateOf(folder) {
  const hash = createHash('sha256').update(readFileSync(join(at(folder), 'package-lock.json')));
  const root = join(ROOT, 'node_modules/.package-lock.json');
  return hash.update(existsSync(root) ? readFileSync(root) : '').digest('hex');
}

/** Whether a folder has what its lock names. */
export const isInstalled = (folder, from = folder) =>
  existsSync(markOf(folder)) && readFileSync(markOf(folder), 'utf8') === stateOf(from);

/**
 * Has a folder's packages installed; returns at once where they are. Whoever else wants them at the same time waits.
 *
 * @param from The folder of its package.json and lock, where that is another one.
 */
export function install(folder, from = folder) {
  if (folder === 'test') linkForMade();
  if (isInstalled(folder, from)) return;
  alone('.cache/installing', () => {
    if (isInstalled(folder, from)) return;
    mkdirSync(at(folder), { recursive: true });
    if (folder !== from)
      for (const name of ['package.json', 'package-lock.json', '.npmrc'])
        if (existsSync(join(at(from), name))) copyFileSync(join(at(from), name), join(at(folder), name));
    console.error(`installing the packages of ${from} (once)`);
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: at(folder),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (OWN.includes(folder)) dropTwice(folder);
    writeFileSync(markOf(folder), stateOf(from));
  });
}

/** Pages and blocks that tests make in the cache find the packages of tests as the tests do. */
function linkForMade() {
  const link = at('.cache/node_modules');
  mkdirSync(dirname(link), { recursive: true });
  try {
    symlinkSync('../test/node_modules', link, 'dir');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

const namesIn = (modules) =>
  readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : [name],
  );

/** Drops what the root has in the same version: two copies of a class, or of a type with private members, are two. */
function dropTwice(folder) {
  const modules = join(at(folder), 'node_modules');
  const versionIn = (parent, name) => {
    const path = join(parent, name, 'package.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : undefined;
  };
  for (const name of namesIn(modules)) {
    const version = versionIn(modules, name);
    if (version !== undefined && version === versionIn(join(ROOT, 'node_modules'), name))
      rmSync(join(modules, name), { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const folder of process.argv.slice(2)) install(folder);
