import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './program.js';

/** The packages that this one is developed with, and their versions: those of the root, and those that tests alone need. */
export function developedWith(): Record<string, string> {
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  return { ...read('package.json').devDependencies, ...read('test/package.json').dependencies };
}
