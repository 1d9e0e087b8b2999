import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './program.js';

/** What users and contributors read. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
];
