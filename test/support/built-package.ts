import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from './program.js';

let built: Promise<unknown> | undefined;

/** Builds the package into `dist`, where its sources have changed. */
export function buildPackage(): Promise<unknown> {
  built ??= promisify(execFile)(process.execPath, ['scripts/build.mjs', '--if-changed'], { cwd: ROOT });
  return built;
}
