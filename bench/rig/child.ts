import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';
const canPin = availableParallelism() > 1 && existsSync(TASKSET);

export interface ChildOptions {
  /** Core to which the process is kept, where the system can do that and has another. */
  readonly core: number;
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that answers messages, one at a time. */
export class Child {
  readonly #name: string;
  readonly #child: ChildProcess;
  #waiting: { resolve(answer: any): void; reject(error: Error): void } | undefined;
  #hasEnded = false;

  /** Starts a program and waits until it says that it is ready. */
  static async start(name: string, file: string, options: ChildOptions): Promise<Child> {
    const child = new Child(name, file, options);
    await child.#answer(20_000);
    return child;
  }

  private constructor(name: string, file: string, { core, flags = [], args = [], env = {} }: ChildOptions) {
    this.#name = name;
    const node = [process.execPath, ...flags, file, ...args];
    const [command = '', ...rest] = canPin ? [TASKSET, '-c', String(core), ...node] : node;
    this.#child = spawn(command, rest, {
      env: { ...process.env, NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: { readonly answer?: unknown; readonly error?: string }) => {
      if (message.error === undefined) this.#waiting?.resolve(message.answer);
      else this.#waiting?.reject(new Error(`${name}: ${message.error}`));
    });
    this.#child.on('exit', (code, signal) => {
      this.#hasEnded = true;
      this.#waiting?.reject(new Error(`${name} ended (${code ?? signal})`));
    });
  }

  #answer<T>(timeoutMs: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(
        () => this.#waiting?.reject(new Error(`${this.#name} has not answered for ${timeoutMs} ms`)),
        timeoutMs,
      );
      const settled = () => {
        clearTimeout(timer);
        this.#waiting = undefined;
      };
      this.#waiting = {
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      if (this.#hasEnded) this.#waiting.reject(new Error(`${this.#name} has ended`));
    });
  }

  ask<T>(message: object, timeoutMs = 120_000): Promise<T> {
    const answer = this.#answer<T>(timeoutMs);
    if (!this.#hasEnded) this.#child.send(message);
    return answer;
  }

  /** Has it end by itself, with `message` or when it finds itself alone; or else by force. */
  async stop(message?: object): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.#child, 'exit');
    if (message) this.#child.send(message);
    else this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
}
