import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The version of this package. */
export function packageVersion(): string {
  return require('agent-session-gateway/package.json').version;
}

/** Path of a module that runs as a process of its own, from its path without extension: the built file, or TypeScript in the repository. */
export function packageModule(path: string): string {
  return import.meta.url.endsWith('.ts') ? packageFile(`${path}.ts`) : packageFile('dist', `${path}.js`);
}

/** Path of a file or folder of this package. */
export function packageFile(...path: readonly string[]): string {
  return join(dirname(require.resolve('agent-session-gateway/package.json')), ...path);
}
