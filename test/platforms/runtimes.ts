import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from 'mocha';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);

/** A runtime that npm has as one binary, which needs no install script. */
interface Runtime {
  /** Names the binary, where there is one. */
  readonly variable: string;
  readonly name: string;
  readonly version: string;
  readonly binary: string;
}

export const RUNTIMES = {
  bun: { variable: 'BUN', name: '@oven/bun-linux-x64', version: '1.4.5', binary: 'bin/bun' },
  deno: { variable: 'DENO', name: '@deno/linux-x64-glibc', version: '2.9.6', binary: 'deno' },
} as const satisfies Record<string, Runtime>;

/** Path of a runtime's binary, brought by npm the first time. Skips the test where npm's registry is away, or has none for this machine. */
export async function needRuntime(test: Context, runtime: Runtime): Promise<string> {
  const given = process.env[runtime.variable];
  if (given) return given;
  const folder = join(ROOT, '.cache/runtimes', `${runtime.name.replace('/', '-')}-${runtime.version}`);
  const binary = join(folder, 'node_modules', runtime.name, runtime.binary);
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const wanted = `${runtime.name}@${runtime.version}`;
  try {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--prefer-offline'];
    await run('npm', ['install', ...flags, wanted], { cwd: folder, timeout: 120_000 });
  } catch {
    test.skip();
  }
  return binary;
}
