import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

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

/** What a command wrote, and how it ended. */
export async function runToEnd(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly code: number | string; readonly output: string }> {
  const program = runCliIn(cwd, args);
  const code = await program.exited;
  return { code, output: program.output };
}

/** A project with some files. */
export function projectOf(files: Readonly<Record<string, string>>): string {
  const folder = tempDir();
  const all = { 'package.json': '{"type":"module"}', ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The address that `start` logs where its log is lines of JSON. */
export async function urlOf(program: Program): Promise<string> {
  return (await program.prints(/"url":"(http[^"]+)".*"message":"started"/))[1]!;
}
