import { spawn } from 'node:child_process';
import { Program, ROOT } from './program.js';
import { closeLater } from './resources.js';

/** A program in a pseudo-terminal of its own, which script(1) of util-linux opens. */
export class PseudoTerminal extends Program {
  /** Presses keys. `\x03` is Ctrl+C, `\x04` Ctrl+D. */
  types(keys: string): void {
    this.child.stdin!.write(keys);
  }

  /** Types a line. */
  enters(line: string): void {
    this.types(`${line}\r`);
  }

  /** Waits until the program has printed what matches since the last call. */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    const rest = () => this.output.slice(this.#seen);
    await this.prints({
      exec: () => pattern.exec(rest()),
      toString: () => `${pattern}`,
    } as unknown as RegExp);
    const found = pattern.exec(rest())!;
    this.#seen += found.index + found[0].length;
    return found;
  }

  #seen = 0;
}

/** Runs a command on a terminal; it is killed after the test. */
export function onTerminal(
  command: readonly string[],
  { env = {}, cwd = ROOT }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): PseudoTerminal {
  const quoted = command.map((part) => `'${part.replaceAll("'", "'\\''")}'`);
  // What continuous integration says of colours is said of its log.
  const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, PORT: ____, HOST: _____, ...own } = process.env;
  const child = spawn('script', ['-qefc', `exec ${quoted.join(' ')}`, '/dev/null'], {
    cwd,
    env: { ...own, TERM: 'xterm', ...env },
    stdio: 'pipe',
    detached: true,
  });
  return closeLater(new PseudoTerminal(child, true), (terminal) => terminal.kill('SIGKILL'));
}
