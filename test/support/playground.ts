import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './program.js';

const run = promisify(execFile);

let built: Promise<unknown> | undefined;

/** Builds the playground's page where its sources have changed. */
export function buildPlayground(): Promise<unknown> {
  built ??= run(process.execPath, ['scripts/build-playground.mjs', '--if-changed'], { cwd: ROOT });
  return built;
}

/** The page's own files, by their paths below it. */
export function playgroundFiles(): readonly string[] {
  const assets = readdirSync(join(ROOT, 'dist/playground/_playground'));
  return ['index.html', ...assets.map((name) => `_playground/${name}`)];
}
