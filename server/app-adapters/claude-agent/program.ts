import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { IS_GROUP, signalGroup } from '../signal-group.js';
import type { ClaudeBounds } from './options.js';
import type { ClaudeChild, ClaudeSpawn } from './sdk.js';

/** Characters of its standard error that are kept for the log. */
const STDERR = 4_000;
/** Milliseconds from the request to end until the end. */
const TERM_MS = 2_000;
const NEWLINE = 0x0a;

/** The program of an agent, for one run. Its process group ends with it, and with this process. */
export class ClaudeProgram {
  /** The reason for which it was ended, if it broke a bound. */
  fault: Error | null = null;
  readonly #bounds: ClaudeBounds;
  readonly #room: () => Promise<void>;
  #kill: (signal: NodeJS.Signals) => void = () => {};
  #stderr = '';
  #silence: NodeJS.Timeout | undefined;

  /** @param room Resolves once the run keeps up with what was read */
  constructor(bounds: ClaudeBounds, room: () => Promise<void>) {
    this.#bounds = bounds;
    this.#room = room;
  }

  /** The end of what it has written to its standard error. */
  get said(): string {
    return this.#stderr.trim();
  }

  start({ command, args, cwd, env, signal }: ClaudeSpawn): ClaudeChild {
    const child = spawn(command, args, { cwd, env, detached: IS_GROUP });
    const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
    this.#kill = (name) => {
      if (!hasEnded()) signalGroup(child, name);
    };
    const atExit = (): void => this.#kill('SIGKILL');
    process.once('exit', atExit);
    child.once('exit', () => signalGroup(child, 'SIGKILL'));
    child.once('close', () => {
      clearTimeout(this.#silence);
      process.off('exit', atExit);
    });
    child.stdin.on('error', () => {});
    child.stderr.on('data', (piece: Buffer) => {
      this.#stderr = `${this.#stderr}${piece}`.slice(-STDERR);
    });
    signal.addEventListener('abort', () => this.end(), { once: true });
    const { startMs } = this.#bounds;
    this.#silence = setTimeout(() => this.#fail(`did not say a word in ${startMs} ms`), startMs);
    return {
      stdin: child.stdin,
      stdout: Readable.from(this.#read(child.stdout), { objectMode: false }),
      get killed() {
        return child.killed;
      },
      get exitCode() {
        return child.exitCode;
      },
      get signalCode() {
        return child.signalCode;
      },
      kill: (name) => {
        this.#kill(name);
        return true;
      },
      on: child.on.bind(child),
      once: child.once.bind(child),
      off: child.off.bind(child),
    };
  }

  /** Ends the program and all that it has started. */
  end(): void {
    this.#kill('SIGTERM');
    setTimeout(() => this.#kill('SIGKILL'), TERM_MS).unref();
  }

  #fail(why: string): void {
    this.fault ??= new Error(`The agent ${why}`);
    this.end();
  }

  async *#read(stdout: Readable): AsyncGenerator<Buffer> {
    let line = 0;
    for await (const piece of stdout as AsyncIterable<Buffer>) {
      clearTimeout(this.#silence);
      const end = piece.lastIndexOf(NEWLINE);
      line = end === -1 ? line + piece.length : piece.length - end - 1;
      if (line > this.#bounds.messageBytes) return this.#fail('wrote too long a message');
      yield piece;
      await this.#room();
    }
  }
}
