import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Program, ROOT, runCommand } from '../support/program.js';

// Not awaited: mocha would load such a file, and all that it uses, apart from the hooks that end programs.
execFileSync(process.execPath, ['scripts/build.mjs', '--if-changed'], { cwd: ROOT });

/** The command as it is packed: its sources take four times as long to start. */
export const CLI: readonly string[] = [process.execPath, join(ROOT, 'dist/server/cli/main.js')];

/** Runs the command in a folder: where that has a project, as if the package were installed there. */
export function runCliIn(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  const installed = join(cwd, 'node_modules/agent-session-gateway');
  if (existsSync(join(cwd, 'package.json')) && cwd !== ROOT && !existsSync(installed)) {
    mkdirSync(dirname(installed), { recursive: true });
    symlinkSync(ROOT, installed);
  }
  const [node, ...main] = CLI;
  return runCommand(node!, { args: [...main, ...args], cwd, env });
}
