import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { buildProgram } from './built-program.js';
import { newDatabase } from './durable.js';
import { freePort } from './free-port.js';
import { type Program, ROOT, runCommand } from './program.js';
import { closeLater } from './resources.js';
import { SHARED_STORES } from './shared-stores.js';

/** A gateway as a process of its own: a program that takes a place of its store and a port, and sends a message once it serves. */
export class GatewayProcess {
  readonly url: string;
  readonly #start: () => Promise<ChildProcess>;
  #child!: ChildProcess;

  private constructor(url: string, start: () => Promise<ChildProcess>) {
    this.url = url;
    this.#start = start;
  }

  /** @param path Of the program, below the root @param more What it takes besides */
  static async start(path: string, place: string, ...more: readonly string[]): Promise<GatewayProcess> {
    const file = await buildProgram(path);
    const port = String(await freePort());
    const gateway = new GatewayProcess(`http://127.0.0.1:${port}`, async () => {
      const child = fork(file, [place, port, ...more], { cwd: ROOT, execArgv: [], silent: true });
      closeLater(child, (it) => it.kill('SIGKILL'));
      await once(child, 'message');
      return child;
    });
    gateway.#child = await gateway.#start();
    return gateway;
  }

  /** Tells the program something, and waits for its word. */
  async tell(message: object): Promise<void> {
    this.#child.send(message);
    await once(this.#child, 'message');
  }

  /** Ends it, and starts it again at the same port. */
  async restart(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const over = once(this.#child, 'exit');
    this.#child.kill(signal);
    await over;
    this.#child = await this.#start();
  }
}

/** Runs a built program up to the address that it prints. */
export async function runListening(
  file: string,
  ...args: readonly string[]
): Promise<{ readonly program: Program; readonly url: string }> {
  const program = runCommand(process.execPath, { args: ['--enable-source-maps', file, ...args] });
  const [, url] = await program.prints(/listening (\S+)\n/);
  return { program, url: url! };
}

/**
 * Describes what gateways that are killed keep: one on SQLite, and two on each store that they share.
 * @param timeoutMs Where it takes longer than other tests
 */
export function describeKilled(
  title: string,
  what: string,
  survive: (place: string, count: number) => Promise<void>,
  timeoutMs?: number,
): void {
  const test = (body: () => Promise<void>): void => {
    const described = it(what, body);
    if (timeoutMs !== undefined) described.timeout(timeoutMs);
  };
  describe(`${title}, on SQLite`, () => test(() => survive(newDatabase(), 1)));
  for (const { name, describe: describeShared, start } of SHARED_STORES)
    describeShared(`${title}, on ${name}`, () => test(async () => survive(await start(), 2)));
}
