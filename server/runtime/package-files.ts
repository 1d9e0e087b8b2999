import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { resolveFrom } from './resolve-from.js';

const MANIFEST = 'agent-session-gateway/package.json';

/** The version of this package. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(packageFile('package.json'), 'utf8')).version;
}

/** Path of a module that runs as a process of its own, from its path without extension: the built file, or TypeScript in the repository. */
export function packageModule(path: string): string {
  return import.meta.url.endsWith('.ts') ? packageFile(`${path}.ts`) : packageFile('dist', `${path}.js`);
}

/** Starts a thread with a module of this package. */
export function packageThread(path: string, options: WorkerOptions): Worker {
  const file = packageModule(path);
  if (!file.endsWith('.ts')) return new Worker(file, options);
  // Threads do not have the hooks by which the process reads TypeScript.
  const tsx = pathToFileURL(packageFile('node_modules/tsx/dist/esm/api/index.mjs')).href;
  const source = `import(${JSON.stringify(tsx)}).then((it) => {
    it.register();
    return import(${JSON.stringify(pathToFileURL(file).href)});
  });`;
  return new Worker(source, { ...options, eval: true });
}

/**
 * Path of a file or folder of this package.
 *
 * @throws Error where a bundle that has the code is far from the package
 */
export function packageFile(...path: readonly string[]): string {
  // A bundler would put an identifier of its own in place of a plain `require.resolve`.
  const manifest = resolveFrom(import.meta.url, MANIFEST);
  if (manifest === undefined) throw new Error(`There is no ${MANIFEST} near ${import.meta.url}`);
  return join(dirname(manifest), ...path);
}
