import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Program, ROOT, runCommand } from '../support/program.js';

const LOADER = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;

/** The command in a folder of its own, as if it were installed there. */
export function commandIn(...args: readonly string[]): readonly string[] {
  return [process.execPath, '--import', LOADER, join(ROOT, 'server/cli/main.ts'), ...args];
}

/** What the sources need to find each other by the package's name from there. */
export const SOURCES_ENV = { TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json') };

export function runCliIn(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  const [command, ...rest] = commandIn(...args);
  return runCommand(command!, { args: rest, cwd, env: { ...SOURCES_ENV, ...env } });
}
