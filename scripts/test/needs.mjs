// Which tests need packages that the root does not have.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { OWN } from '../installed.mjs';

const IMPORTS = /(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*'([^']+)'/g;
/** A file that is named by its path, as a program that is started. */
const NAMED = /\b(test|scripts|docs\/\.vitepress)\/node_modules\//g;

const packages = OWN.filter((folder) => existsSync(join(folder, 'package.json'))).map((folder) => ({
  folder,
  names: new Set(Object.keys(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies)),
}));

const nameOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The source of a relative import. */
function sourceOf(specifier, importer) {
  const path = resolve(dirname(importer), specifier);
  const tried = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')];
  return tried.find((name) => existsSync(name) && statSync(name).isFile());
}

const known = new Map();

/** What a file itself needs, and the files of these folders that it imports. */
function look(file) {
  if (known.has(file)) return known.get(file);
  const text = readFileSync(file, 'utf8');
  const specifiers = [...text.matchAll(IMPORTS)].map(([, specifier]) => specifier);
  const own = packages.filter(({ folder, names }) => {
    const isInside = relative(resolve(folder), file).startsWith('..') === false;
    return isInside && specifiers.some((specifier) => names.has(nameOf(specifier)));
  });
  const named = [...text.matchAll(NAMED)].map(([, folder]) => folder);
  const imported = specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => sourceOf(specifier, file))
    .filter((path) => path && OWN.some((folder) => path.startsWith(resolve(folder))));
  const found = { folders: new Set([...own.map(({ folder }) => folder), ...named]), imported };
  known.set(file, found);
  return found;
}

/** The folders (of OWN) whose packages a test file, or what it imports, needs. */
export function needsOf(file) {
  const seen = new Set();
  const folders = new Set();
  const waiting = [resolve(file)];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const found = look(next);
    for (const folder of found.folders) folders.add(folder);
    waiting.push(...found.imported);
  }
  return [...folders];
}
