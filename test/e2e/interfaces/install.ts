import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../support/program.js';

const run = promisify(execFile);
const SOURCE = join(ROOT, 'test/e2e/interfaces');

/** Below the root, so that what these packages want to find beside them (React) is the project's own. */
export const INTERFACES = join(ROOT, '.cache/interfaces');

/** Installs interfaces that are not among the development dependencies, in the versions of their own lock file. */
export async function installInterfaces(): Promise<void> {
  mkdirSync(INTERFACES, { recursive: true });
  const lock = readFileSync(join(SOURCE, 'package-lock.json'), 'utf8');
  const installed = join(INTERFACES, 'node_modules/installed-lock.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(SOURCE, name), join(INTERFACES, name));
  // Their peers are not installed: one of them is a whole framework, of which nothing is used here.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['ci', ...options], { cwd: INTERFACES });
  writeFileSync(installed, lock);
}
