import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { closeLater } from './resources.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A running program, with what it has printed. */
export class Program {
  readonly child: ChildProcess;
  readonly #group: boolean;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  output = '';
  #ended = false;
  readonly #waiters = new Set<() => void>();

  constructor(child: ChildProcess, group = false) {
    this.child = child;
    this.#group = group;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.#wake();
      });
    }
    this.exited = once(child, 'close').then(([code, signal]) => {
      this.#ended = true;
      this.#wake();
      return code ?? signal;
    });
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter();
  }

  /** Waits until the program has printed what matches; rejects when it ends first. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.#ended) throw new Error(`the program ended without printing ${pattern}:\n${this.output}`);
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiters.delete(wake);
          resolve();
        };
        this.#waiters.add(wake);
      });
    }
  }

  async kill(signal: NodeJS.Signals): Promise<number | string> {
    if (!this.#ended) {
      if (this.#group) killGroup(this.child.pid!, signal);
      else this.child.kill(signal);
    }
    return this.exited;
  }
}

function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // All of it has ended, and the end of its output is on the way.
  }
}

export interface ProgramOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether it starts programs of its own, which `kill` then ends too. */
  readonly group?: boolean;
}

/** Runs a TypeScript program of this repository as its users do; it is killed after the test. */
export function runProgram(file: string, { args = [], env = {} }: ProgramOptions = {}): Program {
  return runCommand(process.execPath, { args: ['--import', 'tsx', file, ...args], env });
}

/** Runs a command; it is killed after the test. */
export function runCommand(
  command: string,
  { args = [], env = {}, cwd = ROOT, group = false }: ProgramOptions = {},
): Program {
  const { PORT: _port, HOST: _host, GATEWAY_TOKEN: _token, ...own } = process.env;
  // A test that wants its sessions kept names a place for them.
  const child = spawn(command, args, {
    cwd,
    env: { ...own, GATEWAY_DB: 'memory', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: group,
  });
  return closeLater(new Program(child, group), (program) => program.kill('SIGKILL'));
}
