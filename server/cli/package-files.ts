import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The version of the package this is part of. */
export function packageVersion(): string {
  return require('agent-session-gateway/package.json').version;
}

/** Where a file or folder of that package is. */
export function packageFile(...path: readonly string[]): string {
  return join(dirname(require.resolve('agent-session-gateway/package.json')), ...path);
}
