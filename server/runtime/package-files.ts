import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The version of the package this is part of. */
export function packageVersion(): string {
  return require('agent-session-gateway/package.json').version;
}

/** Where a module is that runs as a process of its own, by its path without extension: what was built of it, or TypeScript in the repository. */
export function packageModule(path: string): string {
  return import.meta.url.endsWith('.ts') ? packageFile(`${path}.ts`) : packageFile('dist', `${path}.js`);
}

/** Where a file or folder of that package is. */
export function packageFile(...path: readonly string[]): string {
  return join(dirname(require.resolve('agent-session-gateway/package.json')), ...path);
}
